"""Differences: inputs, headline, components; that they add up; and what only one scenario has."""

import json
from dataclasses import replace

import pytest

from memsheet import diff, scenario


def load(name: str = "h200-ppo-lora", **settings: str):
    return scenario.load(name, tuple((key.replace("__", "."), value) for key, value in settings.items()))


@pytest.fixture(scope="module")
def base():
    return load()


@pytest.fixture(scope="module")
def changed():
    return load(lora_rank="128", gpu="a100-80gb")


def by_name(changes) -> dict[str, diff.Change]:
    return {f"{change.quantity}@{change.place}".rstrip("@"): change for change in changes}


def test_nothing_changed(base):
    found = diff.diff(base, load())
    assert not (found.inputs or found.headline or found.at_peak or found.instants or found.only_a or found.only_b)
    assert diff.render(found, colour=False).endswith("No difference.")


def test_inputs_that_differ_and_no_others(base, changed):
    found = by_name(diff.diff(base, changed).inputs)
    assert set(found) == {"lora_rank", "gpu"}, "what a catalogue fills in differs by its option"
    assert (found["lora_rank"].a, found["lora_rank"].b) == (64, 128)
    assert (found["gpu"].a, found["gpu"].b) == ("h200-141gb", "a100-80gb")


def test_an_input_of_one_role(base):
    (change,) = diff.diff(base, load(actor__lora_rank="8")).inputs
    assert (change.a, change.b) == (64, {"critic": 64, "actor": 8})
    assert "actor: 8" in diff.render(diff.diff(base, load(actor__lora_rank="8")), colour=False)


def test_a_stated_figure_beside_the_catalogues(base):
    (change,) = diff.diff(base, load(cuda_memory="80GiB")).inputs
    assert (change.quantity, change.b) == ("cuda_memory", 80 * 2**30)


def test_the_headline(base, changed):
    found = by_name(diff.diff(base, changed).headline)
    card_a, card_b = base.tightest_card(), changed.tightest_card()
    assert found["peak"].change == changed.headline("peak", card_b) - base.headline("peak", card_a)
    assert "verdict" not in found, "both fit"
    worse = by_name(diff.diff(base, load(gpu="t4" if "t4" in base.model.declaration["gpu"].choices else "a10g")).headline)
    assert worse["verdict"].change is None and worse["verdict"].a == "fits"


@pytest.mark.parametrize("settings", [{"lora_rank": "128"}, {"checkpointing": "none"}, {"gpu": "a10g"}, {"micro_batch_size": "1"}])
def test_the_terms_at_the_peak_add_up_to_its_change(settings, base):
    """Also where the two peaks are at different instants."""
    other = load(**settings)
    found = diff.diff(base, other)
    terms = sum(change.change for change in found.at_peak) + found.b.beside - found.a.beside
    assert terms == pytest.approx(found.b.peak - found.a.peak, rel=1e-12, abs=1)
    assert found.a.peak == base.headline("peak", base.tightest_card())


def test_the_terms_of_an_instant_add_up_to_what_is_allocated(base, changed):
    found = diff.diff(base, changed)
    row = base.model.declaration.statistics["allocated"]
    for name, changes in found.instants.items():
        in_a, in_b = (sum(v for k, v in s.values.items() if k.row == row and k.column.instant == name) for s in (base, changed))
        assert sum(change.change for change in changes) == pytest.approx(in_b - in_a, abs=1)
    assert set(found.instants) == {instant.name for instant in base.model.layout.instants}


def test_the_largest_change_comes_first(base, changed):
    found = diff.diff(base, changed)
    for changes in (found.at_peak, *found.instants.values()):
        sizes = [abs(change.change) for change in changes]
        assert sizes == sorted(sizes, reverse=True) and 0 not in sizes


def test_the_other_way_round_is_the_opposite(base, changed):
    there, back = diff.diff(base, changed), diff.diff(changed, base)
    assert by_name(there.at_peak).keys() == by_name(back.at_peak).keys()
    assert all(change.change == -by_name(back.at_peak)[name].change for name, change in by_name(there.at_peak).items())
    assert (there.a, there.b) == (back.b, back.a)


def test_what_only_one_has():
    one, other = load("table-1-full-7b"), load("h200-ppo-lora")
    found = diff.diff(one, other)
    assert set(found.only_b["roles"]) == {"actor", "critic"}
    assert "generate" in found.only_b["instants"] and "kv_cache" in found.only_b["quantities"]
    assert found.only_a["instants"] and not set(found.only_a["instants"]) & set(found.only_b["instants"])
    assert set(found.instants) <= {instant.name for instant in one.model.layout.instants}
    lacking = [change for change in found.at_peak if change.a is None or change.b is None]
    assert lacking, "a component of one scenario is a change from or to nothing"


def test_the_tightest_cards_are_compared():
    found = diff.diff(load("table-1-full-7b"), load("seed-3-large"))
    assert found.a.card == "main" and found.b.card == str(load("seed-3-large").tightest_card())
    assert "main @ first" in found.only_b["cards"]
    assert found.b.card in diff.render(found, colour=False)


def test_json_and_terminal_say_the_same(base, changed):
    found = diff.diff(base, changed)
    again = json.loads(json.dumps(diff.as_dict(found)))
    assert [change["quantity"] for change in again["at_peak"]] == [change.quantity for change in found.at_peak]
    text = diff.render(found, colour=False)
    assert all(change.quantity in text for change in (*found.inputs, *found.at_peak))
    assert "\x1b" not in text and "\x1b[1m" in diff.render(found, colour=True)
    assert "h200-141gb" in text and "a100-80gb" in text


def test_a_hostile_title_stays_text(base, changed):
    found = diff.diff(base, changed)
    hostile = replace(found, b=replace(found.b, title="\x1b[31mred"))
    assert "\x1b" not in diff.render(hostile, colour=False)
