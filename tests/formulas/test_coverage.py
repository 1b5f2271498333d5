"""Every row is reached, every word of every option is tried, every check can fire, every printer knows every formula."""

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path

import pytest

from memsheet import evaluate, nodes, scenario, values
from memsheet.model import Cell, Key, Model
from memsheet.printers.excel import Excel
from memsheet.printers.html import Html
from memsheet.printers.latex import Latex
from memsheet.printers.numpy import Numpy
from memsheet.printers.python import Python
from memsheet.printers.words import Words
from memsheet.scenario import Scenario

spec = importlib.util.spec_from_file_location("formula_cases", Path(__file__).with_name("cases.py"))
cases = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = cases
spec.loader.exec_module(cases)

DECLARATION = scenario.declaration()
CASES, CHECKS = cases.load("formulas.yaml"), cases.load("formulas_checks.yaml")
PRINTERS = (Excel, Python, Numpy, Latex, Words, Html)


@cache
def all_scenarios() -> tuple[Scenario, ...]:
    return tuple(scenario.load(name) for name in scenario.names()) + tuple(case.scenario() for case in (*CASES, *CHECKS))


@cache
def formulas() -> dict[tuple[object, tuple[str, ...]], tuple[Model, Cell]]:
    """One cell of every expression that any scenario has."""
    found: dict[tuple[object, tuple[str, ...]], tuple[Model, Cell]] = {}
    for one in all_scenarios():
        for cell in one.model.cells.values():
            if cell.expression is not None:
                found.setdefault((cell.expression, cell.quantity.choices), (one.model, cell))
    return found


def test_every_row_is_reached():
    reached = {key.row for one in all_scenarios() for key in one.model.cells}
    assert DECLARATION.rows.keys() - reached == set()


def test_every_word_of_every_option_is_tried():
    tried: dict[str, set[str]] = {}
    for one in all_scenarios():
        for key, value in one.inputs.items():
            quantity = one.model.cells[key].quantity
            if quantity.choices and quantity.catalogue is None:
                tried.setdefault(key.row, set()).add(str(values.shown(quantity, value)))
    options = {name: set(row.choices) for name, row in DECLARATION.rows.items() if row.is_given and row.choices and not row.catalogue}
    assert tried == options


def test_every_answer_of_a_decision_is_given():
    given: dict[str, set[object]] = {}
    for one in all_scenarios():
        for key, cell in one.model.cells.items():
            if cell.quantity.choices and not cell.quantity.is_given and not cell.quantity.severity:
                given.setdefault(key.row, set()).add(values.shown(cell.quantity, one.values[key]))
    answers = {name: set(row.choices) for name, row in DECLARATION.rows.items() if row.choices and not row.is_given and not row.severity}
    assert given == answers


def test_every_check_has_a_case():
    checks = {name for name, row in DECLARATION.rows.items() if row.severity}
    assert {case.name for case in CHECKS} == checks


@pytest.mark.parametrize("case", CHECKS, ids=lambda case: case.name)
def test_a_check_fires(case):
    found = case.scenario()
    inputs = dict(found.inputs)
    for key in inputs:
        if key.row in case.live:
            inputs[key] = values.parse(DECLARATION[key.row], case.live[key.row])
    here = evaluate.scalar(found.model)(inputs)
    fired = {key.column.role for key in found.model.checks() if key.row == case.name and here[key]}
    assert case.fires in fired if case.fires else fired


@pytest.mark.parametrize("name", scenario.names())
def test_nothing_is_refused_in_a_built_in_scenario(name):
    assert scenario.load(name).refusals() == []


@pytest.mark.parametrize("printer", PRINTERS, ids=lambda printer: printer.__name__)
def test_every_formula_prints(printer):
    made = printer()
    for _, cell in formulas().values():
        if printer is Numpy and cell.expression.has(nodes.NameOfHighest, nodes.AtHighest):
            continue  # names of cells are words, which arrays do not hold
        assert made.template(cell).texts, cell.key


def test_every_symbol_is_a_letter_of_its_own():
    owners: dict[str, list[str]] = {}
    for name, row in DECLARATION.rows.items():
        if row.unit.name != "words" or row.tex:
            owners.setdefault(row.tex, []).append(name)
    assert "" not in owners, f"no symbol: {owners['']}"
    assert {tex: names for tex, names in owners.items() if len(names) > 1} == {}


def test_every_row_says_where_it_comes_from():
    for name, row in DECLARATION.rows.items():
        if not row.is_given:
            assert row.source.strip(), name
        assert row.label == row.label.strip() and not row.label.endswith("."), name
        assert not re.search(r"\b(TODO|FIXME|XXX)\b", row.source + row.note), name


def test_labels_tell_rows_apart():
    owners: dict[str, list[str]] = {}
    for name, row in DECLARATION.rows.items():
        owners.setdefault(row.label, []).append(name)
    assert {label: names for label, names in owners.items() if len(names) > 1} == {}


def test_a_chapter_reads_only_chapters_before_it():
    """So that a reader, like Python, meets every row before it is used."""
    order = {name: number for number, name in enumerate(DECLARATION.chapters)}
    for one in all_scenarios()[:1]:
        for key, cell in one.model.cells.items():
            for read in cell.reads():
                if isinstance(read, Key) and not key.column.instant:
                    assert order[DECLARATION[read.row].chapter] <= order[cell.quantity.chapter], (key, read)
