"""A row or a coefficient that is 5 % off, up or down, is noticed by a case or by a measured run."""

import importlib.util
import sys
from pathlib import Path

import pytest

from memsheet import scenario


def beside(name: str):
    """A module of this folder."""
    spec = importlib.util.spec_from_file_location(f"formula_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


cases, mutations, measured = beside("cases"), beside("mutations"), beside("test_measured")


def checks() -> list:
    """The cases, the counts of parameters and the measured runs, as bounds of cells."""
    found = []
    for case in cases.load("formulas.yaml"):
        one = case.scenario()
        found.append(mutations.Check(case.name, one, cases.bounds(case, one)))
    for model, count in cases.published().items():
        one = scenario.load("table-1-inference-7b", (("model", model),))
        bounds = {key: (count, count) for key in one.model.cells if key.row == "parameters_on_rank"}
        found.append(mutations.Check(model, one, bounds))
    for name in measured.RUNS:
        found.append(mutations.Check(name, measured.scenario_of(name), measured.bounds(name)))
    return found


#: A yes or no, that a little more leaves as it is.
EXCUSED = ["adapters_on_attention"]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [1.05, 0.95])
def test_what_is_wrong_is_noticed(wrong):
    mutants = mutations.Mutants(scenario.declaration(), wrong)
    assert len(mutants.wrong) > 300
    assert mutants.survivors(checks()) == EXCUSED
