"""Records written by hand: what they mean, and what is wrong with them."""

from pathlib import Path

import pytest

from memsheet.importers import written
from memsheet.importers.record import Figure, Record
from memsheet.reader import InputError
from memsheet.scenario import declaration

GOOD = """\
source: a paper
where: one A100
versions: {torch: "2.1"}
note: Shared.
records:
  first:
    title: The first
    where: one V100
    versions: {vllm: "0.6"}
    note: Own.
    settings: {schedule: training, model: llama-7b, lora_targets: [q_proj, v_proj]}
    figures:
      - {phase: load, allocated: 12.1 GiB, reserved: about 13 GB, note: seen}
      - {phase: run, process: trainer, device: at least 80 GiB}
"""


def read(tmp_path: Path, text: str) -> list[Record]:
    path = tmp_path / "records.yaml"
    path.write_text(text, encoding="utf-8")
    return written.read(path, "records.yaml", declaration())


def test_a_record_and_what_it_shares_with_its_file(tmp_path: Path) -> None:
    (record,) = read(tmp_path, GOOD)
    assert (record.name, record.title, record.source) == ("first", "The first", "a paper")
    assert (record.where, record.note) == ("one V100", "Shared. Own.")
    assert record.versions == {"torch": "2.1", "vllm": "0.6"} and record.status == "ok"
    assert record.settings == {"schedule": "training", "model": "llama-7b", "lora_targets": "q_proj, v_proj"}
    assert record.figures == (
        Figure("load", "allocated", round(12.1 * 2**30), note="seen"),
        Figure("load", "reserved", 13 * 10**9, note="seen", bound="about"),
        Figure("run", "device", 80 * 2**30, process="trainer", bound="at least"),
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("source: a paper", "sauce: a paper", 1, "has no 'sauce'. Did you mean source?"),
        ("source: a paper\n", "", 6, "the record first needs a source"),
        ("    title: The first\n", "", 7, "the record first needs a title"),
        ("title: The first", 'title: "The \\e[2J first"', 7, "control characters"),
        ("model: llama-7b", '"model\\e[2J": llama-7b', 11, "control characters"),
        ("    title: The first", f"    title: {'x' * 3000}", 7, "at most 2000 characters"),
        ("model: llama-7b", "model: llama-7c", 11, "Did you mean llama-7b?"),
        ("model: llama-7b", "modle: llama-7b", 11, "nothing is called 'modle'. Did you mean model?"),
        ("schedule: training, ", "", 11, "settings must name the schedule"),
        ("12.1 GiB", "12.1 GiBi", 13, "allocated cannot be in 'GiBi'"),
        ("12.1 GiB", "around 12 GiB", 13, "allocated needs a number"),
        ("12.1 GiB", "-1", 13, "allocated must be 0 or more"),
        ("12.1 GiB", "0", 13, "nothing was measured"),
        ("12.1 GiB", "[1, 2]", 13, "needs a text"),
        ("phase: load, ", "", 13, "needs the phase"),
        ("device: at least 80 GiB", "gpu: 80 GiB", 14, "a figure has no 'gpu'"),
        ("    note: Own.", "    status: fine", 10, "status is one of ok, out of memory, error"),
        ("    note: Own.", "    figure: []", 10, "a record has no 'figure'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(old, new, 1))
    assert any(mistake.place.line == line and message in mistake.message for mistake in caught.value.mistakes), str(caught.value)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace("llama-7b", "llama-7c").replace("12.1 GiB", "much"))
    assert len(caught.value.mistakes) == 2


@pytest.mark.parametrize(
    "text",
    ["records: {}", "records: [a]", "records: {a: b}", "records: {a: {title: t, source: s, settings: x, figures: y}}", "title: x"],
)
def test_what_holds_no_records_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, text)
