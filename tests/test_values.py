"""What a written value means for a quantity, and what is said where it means nothing."""

import math
import time
from pathlib import Path

import pytest
import sympy
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memsheet import scenario, values
from memsheet.quantity import Quantity
from memsheet.units import byte, count, share, words

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "values.yaml").read_text(encoding="utf-8"))


def quantity(name: str, unit=count, **more) -> Quantity:
    return Quantity(sympy.Dummy(name), f"The {name}", unit, "test", "role", name=name, **more)


QUANTITIES = {
    row.name: row
    for row in (
        quantity("method", words, choices=("frozen", "full", "lora", "p_tuning")),
        quantity("card", words, choices=tuple(f"card-{number}" for number in range(40))),
        quantity("rank", limits=(1, 4096), whole=True),
        quantity("memory", byte),
        quantity("reserve", share, limits=(0, 0.9)),
        quantity("factor"),
    )
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['quantity']}: {case['name']}")
def test_a_value(case):
    row = QUANTITIES[case["quantity"]]
    if "message" in case:
        with pytest.raises(values.ValueMistake) as caught:
            values.parse(row, case["text"])
        assert str(caught.value).startswith(case["message"])
    else:
        found = values.parse(row, case["text"])
        assert found == case["value"]
        assert type(found) is type(case["value"])


@pytest.mark.parametrize("text", ["1" * 5_000, "9" * 150_000, "0" * 5_000 + "1e18"])
def test_a_number_of_thousands_of_digits_is_refused_at_once(text):
    start = time.perf_counter()
    with pytest.raises(values.ValueMistake) as caught:
        values.parse(QUANTITIES["rank"], text)
    assert len(str(caught.value)) < 120
    assert time.perf_counter() - start < 0.5


def test_a_long_text_is_shown_cut_off():
    with pytest.raises(values.ValueMistake, match=r"needs a number, not 'x{57}\.\.\.'$"):
        values.parse(QUANTITIES["rank"], "x" * 10_000)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(list(QUANTITIES.values())), st.text(max_size=20) | st.from_regex(values._NUMBER, fullmatch=True))
def test_any_text_gives_a_number_within_the_limits_or_a_mistake(row, text):
    try:
        found = values.parse(row, text)
    except values.ValueMistake as mistake:
        assert row.name in str(mistake)
        return
    assert math.isfinite(found)
    if row.choices:
        assert row.choices[int(found)] == text.strip()
    else:
        low, high = row.limits
        assert low <= found and (high is None or found <= high)
        assert not row.whole or isinstance(found, int)


def test_every_default_of_the_formulas_is_a_value_that_may_be_written():
    rows = [row for row in scenario.declaration().rows.values() if row.is_given and row.default is not None]
    assert len(rows) > 20
    for row in rows:
        found = values.parse(row, str(row.default))
        assert values.shown(row, found) == row.default


def test_words_are_shown_as_words_and_numbers_as_numbers():
    assert values.shown(QUANTITIES["method"], 2) == values.shown(QUANTITIES["method"], 2.0) == "lora"
    assert values.shown(QUANTITIES["rank"], 2) == 2
    assert values.shown(QUANTITIES["method"], "a computed word") == "a computed word"


@pytest.mark.parametrize(
    ("word", "hint"),
    [("a10", " Did you mean a10g?"), ("A10G", " Did you mean a10g?"), ("h100", " Did you mean h100-80gb?"), ("tpu-v5", "")],
)
def test_the_nearest_word_is_offered_only_where_it_is_near(word, hint):
    assert values.nearest(word, ["a10g", "h100-80gb", "l4", "mi300x-192gb"]) == hint
