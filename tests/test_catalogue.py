"""Catalogues: tables whose every figure has a source, and what a scenario may state instead of a figure."""

from pathlib import Path

import pytest

from memsheet import catalogue, scenario
from memsheet.house import folder
from memsheet.units import byte, count

GOOD = """
title: Boats
columns:
  length: {label: Length, lowest: 1, whole: true}
  hold: {label: Hold, unit: byte, note: empty}
  sails: {label: Sails (1 yes, 0 no), highest: 1}
rows:
  sloop: {label: A sloop, length: 9, hold: 100, sails: 1, source: a book}
  barge: {label: A barge, length: 20, hold: 5000, sails: 0, source: another book}
"""


def read(folder: Path, text: str) -> catalogue.Catalogue:
    path = folder / "boats.yaml"
    path.write_text(text, encoding="utf-8")
    return catalogue.read(path)


def test_a_catalogue_holds_figures_labels_and_sources(tmp_path):
    boats = read(tmp_path, GOOD)
    assert (boats.name, boats.title, list(boats.rows)) == ("boats", "Boats", ["sloop", "barge"])
    assert boats.values("hold") == (100, 5000)
    assert boats.labels["sloop"] == "A sloop" and boats.sources["barge"] == "another book"
    assert boats.columns["length"] == catalogue.Column("Length", count, limits=(1, None), whole=True)
    assert boats.columns["hold"] == catalogue.Column("Hold", byte, "empty")
    assert boats.columns["sails"].limits == (0, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("hold: 100, ", "", "boats.yaml: sloop: no hold"),
        ("source: a book", "source: ''", "boats.yaml: sloop: no source"),
        ("label: A barge, length: 20, ", "", "boats.yaml: barge: no length, label"),
        ("length: 9", "length: long", "boats.yaml: sloop: no length"),
    ],
)
def test_a_row_that_leaves_something_open_is_refused(tmp_path, old, new, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        read(tmp_path, GOOD.replace(old, new))


@pytest.mark.parametrize("path", sorted((folder("formulas") / "catalogues").glob("*.yaml")), ids=lambda path: path.stem)
def test_what_a_scenario_may_state_includes_every_figure_of_the_table(path):
    table = catalogue.read(path)
    for word, figures in table.rows.items():
        for name, figure in figures.items():
            low, high = table.columns[name].limits
            assert low <= figure and (high is None or figure <= high), f"{word}: {name}"
            assert not table.columns[name].whole or figure == int(figure), f"{word}: {name}"


def test_the_size_of_a_model_is_the_published_one():
    """An independent count: what the vendors say, to the last parameter where they do."""
    option = scenario.declaration()["model"]
    published = option.catalogue.values("parameters_published")
    assert len(published) > 20
    for word, parameters in zip(option.choices, published, strict=True):
        loaded = scenario.load("base/inference", (("model", word), ("gpu", "h200-141gb")))
        found = next(value for key, value in loaded.values.items() if key.row == "parameters_on_rank")
        assert found == pytest.approx(parameters, rel=1e-4), word
