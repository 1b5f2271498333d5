"""The numbers behind the report, each against a second way of finding it."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import sympy

from memsheet import nodes, scenario
from memsheet.figures import gib
from memsheet.report import chart, offers, path, sections, timeline
from memsheet.report.taken import number, taken

SVG = "{http://www.w3.org/2000/svg}"
LARGE = "seed-3-large"


# --- the branch that is taken ---


@pytest.mark.parametrize("name", scenario.names())
def test_what_is_taken_has_the_value_of_the_whole(name, loaded):
    found = loaded(name)
    for key, cell in found.model.cells.items():
        words = (nodes.AtHighest, nodes.NameOfHighest, nodes.Lookup)
        if cell.expression is None or isinstance(cell.expression, words) or cell.quantity.choices:
            continue
        said = taken(cell, found.values)
        assert not said.expression.has(sympy.Piecewise)
        value = number(said.expression, replace(cell, expression=said.expression), found.values)
        assert value == pytest.approx(found.values[key], rel=1e-12), key


def test_the_options_that_decided_are_named(loaded):
    found = loaded("h200-ppo-lora")
    chosen = (cell for cell in found.model.cells.values() if isinstance(cell.expression, sympy.Piecewise))
    cell = next(cell for cell in chosen if cell.quantity.chapter == "states")
    asked = {key.row for key in taken(cell, found.values).decided}
    assert asked and all(found.model.declaration[row].choices for row in asked)


# --- the binding path ---


@pytest.mark.parametrize("name", ["h200-ppo-lora", LARGE, "table-1-full-70b"])
def test_the_path_leads_from_the_peak_to_its_largest_component(name, reading):
    told = reading(name)
    found, card = told.scenario, told.scenario.tightest_card()
    steps = path.steps(told, told.headline("peak", card))
    labels = [step.label for step in steps]
    assert labels[0] == found.model.declaration[found.model.declaration.headline["peak"]].label
    assert steps[0].result == told.value(told.headline("peak", card))
    assert found.headline("peak_component", card).split(",")[0] in labels
    assert len(steps) == len({(step.label, step.place) for step in steps}) <= path.MOST_STEPS
    assert [step.depth for step in steps][:2] == [0, 1]
    assert all(step.source for step in steps)


def test_a_sum_of_components_says_which_is_which(reading):
    told = reading("h200-ppo-lora")
    steps = path.steps(told, told.headline("peak", told.scenario.tightest_card()))
    allocated = next(step for step in steps if step.label == "Allocated")
    assert ("12.55\u202fGiB", "Weights, actor") in [(str(symbol), label) for symbol, label in allocated.where]


# --- what to buy ---


@pytest.mark.parametrize("name", ["seed-1-development", LARGE])
def test_every_offer_is_what_the_scenario_says_with_that_card(name, reading):
    told = reading(name)
    found = offers.offers(told, "main")
    assert [offer.capacity for offer in found] == sorted(offer.capacity for offer in found)
    assert [offer.own for offer in found].count(True) == 1
    for offer in found:
        other = scenario.load(name, (("gpu", offer.word),))
        card = other.tightest_card()
        assert offer.headroom == pytest.approx(other.headline("headroom", card))
        assert offer.capacity == other.headline("capacity", card)
        assert offer.fits == (other.verdict() == "fits" and not other.refusals())
        assert offer.possible == (other.verdict() != "does not fit" and not other.refusals())
    best, smallest = offers.recommended(found), next(offer for offer in found if offer.fits)
    assert best == smallest or (best.own and best.capacity <= offers.SAME_CLASS * smallest.capacity)


def test_no_offer_where_the_scenario_states_the_memory(reading):
    assert offers.offers(reading("seed-1-development", (("cuda_memory", "30 GiB"),)), "main") == []


def test_nothing_is_recommended_where_nothing_fits(reading):
    found = offers.offers(reading("seed-1-development", (("batch_size", "100000"),)), "main")
    assert offers.recommended(found) is None and not any(offer.possible for offer in found)


# --- the timeline ---


@pytest.mark.parametrize("name", ["h200-ppo-lora", LARGE])
def test_bars_add_up_to_what_is_allocated(name, reading):
    told = reading(name)
    found = told.scenario
    row = found.model.declaration.statistics["allocated"]
    for card in found.model.layout.cards:
        bars = timeline.bars(told, card)
        for instant, bar in zip(found.model.layout.instants, bars, strict=True):
            keys = [key for key in found.model.cells if key.row == row and key.column.instant == instant.name]
            on_card = [key for key in keys if (key.column.pool, key.column.stage) == (card.pool, card.stage)]
            assert bar.total == pytest.approx(sum(found.values[key] for key in on_card))
        assert max(bar.must for bar in bars) == found.headline("peak", card)
        table = timeline.instants(told, card)
        assert found.headline("peak_instant", card) in table.rows[table.peak][0]
        sums = timeline.table_of_components(told, card).rows[-1][1:]
        assert list(sums) == [gib(bar.total) for bar in bars]


def test_cards_with_the_same_figures_share_a_timeline(reading):
    assert len(sections.cards(reading(LARGE))) < len(reading(LARGE).scenario.model.layout.cards)


def drawn(reading, name, **settings):
    told = reading(name, tuple(settings.items()))
    card = told.scenario.tightest_card()
    return ElementTree.fromstring(sections.cards(told)[0].chart), timeline.bars(told, card)


def test_the_chart_is_to_scale(reading):
    svg, bars = drawn(reading, "seed-1-development")
    wide = [float(rect.get("width")) for rect in svg.iter(f"{SVG}rect")]
    amounts = [amount for bar in bars for amount in bar.series.values()]
    scale = max(wide) / max(amounts)
    assert wide == pytest.approx([amount * scale for amount in amounts], abs=0.02)
    texts = [text.text for text in svg.iter(f"{SVG}text")]
    assert [text for text in texts if text in {gib(bar.total) for bar in bars}]
    assert svg.find(f"{SVG}title").text


def test_the_cards_line_is_drawn_or_said_to_be_beyond(reading):
    near, _ = drawn(reading, "seed-1-development")
    far, _ = drawn(reading, "h200-ppo-lora")
    texts = ["".join(text.text for text in svg.iter(f"{SVG}text")) for svg in (near, far)]
    assert "beyond the right edge" not in texts[0] and "beyond the right edge" in texts[1]
    red = [[line for line in svg.iter(f"{SVG}path") if line.get("stroke") == "#B00020"] for svg in (near, far)]
    assert len(red[0]) == 2 and not red[1]


def test_labels_in_charts_are_escaped():
    bars = [timeline.Bar("<b>&", {"Weights": 2.0**30}, 2.0**30)]
    lines = chart.Lines(2.0**31, 2.0**30, "<i>", "&")
    svg = chart.timeline(bars, ("Weights",), lines, chart.Words("<title>", "<x>", "<y>"))
    assert ElementTree.fromstring(svg).find(f"{SVG}title").text == "<title>"
    assert not re.search("<(b|i|x|y)>", svg)


# --- inputs and sources ---


@pytest.mark.parametrize("name", ["h200-ppo-lora", LARGE])
def test_every_input_is_listed_with_its_value(name, reading):
    told = reading(name)
    listed = sections.inputs(told)
    for key, cell in told.scenario.model.inputs.items():
        if cell.quantity.group:
            continue
        found = [one for one in listed if one.label == cell.quantity.label and one.value == told.value(key)]
        assert found, key
    text = " ".join(one.source for one in listed)
    for key, cell in told.scenario.model.cells.items():
        if isinstance(cell.expression, nodes.Lookup):
            assert f"{cell.quantity.label} {told.value(key)}" in text


def test_an_input_that_differs_says_whose_it_is(reading):
    found = {one.value: one.whose for one in sections.inputs(reading(LARGE)) if one.label == "Training method"}
    assert found["full"] == "actor; critic" and found["frozen"].startswith("reference")
