"""Formulas give what was worked out by hand, published or logged: tests/cases/formulas.yaml."""

import importlib.util
import sys
from pathlib import Path

import pytest

from memsheet import scenario
from memsheet.model import Key

spec = importlib.util.spec_from_file_location("formula_cases", Path(__file__).with_name("cases.py"))
cases = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cases
spec.loader.exec_module(cases)

CASES = cases.load("formulas.yaml")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case(case):
    found = case.scenario()
    assert case.source and case.expect
    assert found.refusals() == []
    assert list(cases.problems(case, found)) == []


@pytest.mark.parametrize("model", cases.published())
def test_parameters_are_as_published(model):
    found = scenario.load("table-1-inference-7b", (("model", model),))
    (count,) = (value for key, value in found.values.items() if key.row == "parameters_on_rank")
    assert count == cases.published()[model]


def test_a_wrong_expectation_is_noticed():
    case = next(case for case in CASES if case.name.startswith("Megatron's"))
    wrong = tuple(dict(one) | {"is": one["is"] + " + 1000"} for one in case.expect)
    changed = cases.Case(case.name, case.source, case.extends, case.blocks, wrong)
    assert len(list(cases.problems(changed, case.scenario()))) == len(wrong)


def test_arithmetic_is_all_that_a_case_can_say():
    assert cases.arithmetic("(6 + 12 / 8) * P", {"P": 4}) == 30
    for text in ("__import__('os')", "P.x", "[1]", "2 ** 3", "'a'", "P if 1 else 2"):
        with pytest.raises((ValueError, KeyError)):
            cases.arithmetic(text, {"P": 4})


def test_a_case_names_its_cells():
    found = CASES[0].scenario()
    assert [key.row for key in cases.keys(found, {"row": "weights", "at": "load"})] == ["weights"]
    assert all(isinstance(key, Key) and not key.column.instant for key in cases.keys(found, {"row": "weights"}))
    with pytest.raises(AssertionError, match="no cell"):
        cases.keys(found, {"row": "weights", "of": "nobody"})
