"""The PDF as its reader gets it: text, attachment, metadata, the same bytes, nothing from outside."""

import hashlib
import io
import logging
import os
import subprocess
import sys

import pypdf
import pytest

from memsheet import __version__, compare, language, report, scenario
from memsheet.figures import gib, size

WORKBOOK = b"PK\x03\x04 stands for a workbook"
#: One measured, one with stages and two processes, one small.
SCENARIOS = ("h200-ppo-lora", "seed-3-large", "table-1-inference-7b")


def plain(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", SCENARIOS)
def test_page_one_says_the_verdict_and_the_figures(name, loaded, pdf):
    found, card = loaded(name), loaded(name).tightest_card()
    first = plain(pypdf.PdfReader(io.BytesIO(pdf(name))).pages[0].extract_text())
    assert plain(found.title) in first
    assert found.verdict() in first
    for meaning in ("peak", "capacity", "headroom", "typical_peak"):
        assert plain(size(found.headline(meaning, card))) in first, meaning
    assert found.headline("peak_instant", card) in first
    assert found.headline("peak_component", card) in first
    told = {found.model.cells[key].quantity.label: False for key in found.model.checks()}
    for key in found.model.checks():  # one role is enough
        told[found.model.cells[key].quantity.label] |= bool(found.values[key])
    for label, holds in told.items():
        assert (label in first) == holds, label


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_value_of_the_timeline_is_in_the_report(name, loaded, pdf, text_of):
    found, text = loaded(name), text_of(pdf(name))
    statistics = set(found.model.declaration.statistics.values())
    for key, value in found.values.items():
        if key.row in statistics:
            assert gib(value) in text, key
    for instant in found.model.layout.instants:
        assert instant.label in text


def test_every_equation_in_use_is_in_the_appendix(loaded, pdf, text_of):
    text = text_of(pdf("seed-3-large"))
    appendix = text[text.rindex("Appendix") :]
    for key, cell in loaded("seed-3-large").model.cells.items():
        if cell.expression is not None and not cell.quantity.severity and not cell.quantity.is_given:
            assert plain(cell.quantity.label) in appendix, key


def test_measured_values_stand_beside_predictions(loaded, pdf, text_of):
    text = text_of(pdf("h200-ppo-lora"))
    pairs = compare.beside(loaded("h200-ppo-lora"))
    assert pairs
    for pair in pairs:
        assert gib(pair.figure.bytes) in text and gib(pair.predicted) in text


def test_it_says_once_what_it_does_not_answer(pdf, text_of):
    assert text_of(pdf("table-1-inference-7b")).count("does not answer") == 1


def test_a_configuration_that_is_not_covered_gets_no_verdict(loaded, text_of):
    refused = loaded("table-1-inference-7b", (("response_length", "4000"),))
    assert refused.refusals()
    text = text_of(report.contents(refused, "x", workbook=None))
    assert "not covered by the formulas" in text and "generation needs response_length" in text
    assert "smallest card of the catalogue" not in text


def test_the_workbook_is_attached(pdf):
    reader = pypdf.PdfReader(io.BytesIO(pdf("h200-ppo-lora")))
    assert {name: list(data) for name, data in reader.attachments.items()} == {"h200-ppo-lora.xlsx": [WORKBOOK]}
    file = reader.trailer["/Root"]["/AF"][0].get_object()
    assert file["/AFRelationship"] == "/Source"
    assert file["/EF"]["/F"].get_object()["/Subtype"] == "/application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def test_it_is_tagged_pdf_a_3_with_bookmarks(pdf):
    reader = pypdf.PdfReader(io.BytesIO(pdf("h200-ppo-lora")))
    root = reader.trailer["/Root"]
    metadata = root["/Metadata"].get_object().get_data().decode()
    assert 'pdfaid:part="3"' in metadata and 'pdfaid:conformance="A"' in metadata
    assert root["/MarkInfo"]["/Marked"] and root["/StructTreeRoot"] and root["/OutputIntents"]
    assert root["/Lang"] == "en"
    assert reader.metadata.title == scenario.load("h200-ppo-lora").title
    titles = [entry.title for entry in reader.outline if not isinstance(entry, list)]
    assert titles[:3] == ["Decision", "What to buy", "Timeline"] and "Appendix: all equations" in titles
    pages = [page.extract_text() for page in reader.pages]
    assert all(f"Page {number} of {len(pages)}" in plain(page) for number, page in enumerate(pages, 1))
    assert all(f"memsheet {__version__}" in plain(page) for page in pages)


def test_in_chinese(loaded, pdf, text_of):
    found, chinese = loaded("seed-3-large"), language.load("zh")
    data = pdf("seed-3-large", "zh")
    text = text_of(data).replace(" ", "")
    assert pypdf.PdfReader(io.BytesIO(data)).trailer["/Root"]["/Lang"] == "zh-Hans"
    card = found.tightest_card()
    assert chinese.word(found.verdict()) in text
    assert chinese.instant(found.headline("peak_instant", card)) in text
    assert "权重，rollout" in text and "附录：全部公式" in text
    assert size(found.headline("peak", card)).replace("\u202f", "") in text


@pytest.mark.parametrize("tag", language.names())
def test_weasyprint_has_nothing_to_complain_about(tag, loaded, caplog):
    with caplog.at_level(logging.WARNING, logger="weasyprint"):
        report.contents(loaded("table-1-inference-7b"), "x", workbook=None, language=tag)
    assert not [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_the_same_input_gives_the_same_bytes(loaded, pdf):
    again = report.contents(scenario.load("table-1-inference-7b"), "table-1-inference-7b", workbook=WORKBOOK)
    assert again == pdf("table-1-inference-7b")
    assert report.contents(loaded("table-1-inference-7b"), "table-1-inference-7b", workbook=WORKBOOK + b".") != again


@pytest.mark.slow
def test_the_same_bytes_in_another_process_with_other_hashes(pdf):
    code = (
        "import sys, hashlib; from memsheet import report, scenario;"
        f"data = report.contents(scenario.load('seed-3-large'), 'seed-3-large', workbook={WORKBOOK!r});"
        "print(hashlib.sha256(data).hexdigest())"
    )
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert found.stdout.strip() == hashlib.sha256(pdf("seed-3-large")).hexdigest()


# --- the file ---


def test_the_file_is_written_whole(tmp_path, loaded):
    report.write(loaded("table-1-inference-7b"), tmp_path / "a.pdf", workbook=WORKBOOK)
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-1.7")
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]
    assert list(pypdf.PdfReader(tmp_path / "a.pdf").attachments) == ["a.xlsx"]


def test_or_not_at_all(tmp_path, loaded, monkeypatch):
    (tmp_path / "a.pdf").write_bytes(b"the old report")
    monkeypatch.setattr("os.replace", lambda *names: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        report.write(loaded("table-1-inference-7b"), tmp_path / "a.pdf", workbook=None)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"the old report"]


def test_an_unknown_language_is_refused(tmp_path, loaded):
    with pytest.raises(language.LanguageError, match="en, zh"):
        report.write(loaded("table-1-inference-7b"), tmp_path / "a.pdf", workbook=None, language="../en")
    assert not list(tmp_path.iterdir())


# --- what is missing on the machine ---


def test_without_weasyprint_it_says_what_to_install(loaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(report.ReportUnavailable, match=r"memsheet\[report\]"):
        report.contents(loaded("table-1-inference-7b"), "x", workbook=None)


def test_without_pango_it_says_what_to_install(loaded, monkeypatch):
    class NoPango:
        def find_spec(self, name, path=None, target=None):
            if name == "weasyprint":
                raise OSError("cannot load library 'libpango-1.0-0'\nand more lines")

    monkeypatch.delitem(sys.modules, "weasyprint")
    monkeypatch.setattr(sys, "meta_path", [NoPango(), *sys.meta_path])
    with pytest.raises(report.ReportUnavailable, match=r"libpango-1.0-0'\).*apt-get install"):
        report.contents(loaded("table-1-inference-7b"), "x", workbook=None)
