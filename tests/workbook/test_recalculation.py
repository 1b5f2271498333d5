"""A workbook's formulas mean what the declarations mean, in spreadsheet programs that are not ours.

The oracle is exact: every cell computed in fractions. Inputs change at random, and every word of every option is tried.
"""

import importlib.util
import sys
from pathlib import Path
from random import Random

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memsheet import language, scenario, workbook
from memsheet.workbook import views, xlsx

spec = importlib.util.spec_from_file_location("workbook_engines", Path(__file__).with_name("engines.py"))
engines = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = engines
spec.loader.exec_module(engines)

SCENARIOS = ["h200-ppo-lora", "seed-2-mid-size", "table-1-full-7b", "table-1-inference-7b"]


class Book:
    """A scenario's workbook on disk in one language, its whole model, and where each cell stands."""

    def __init__(self, name: str, folder: Path, tag: str) -> None:
        self.scenario = scenario.load(name)
        shown = views.build(self.scenario, language.load(tag))
        self.model, self.inputs = shown.model(), self.scenario.inputs | shown.inputs
        self.path = folder / f"{name}.{tag}.xlsx"
        workbook.write(self.scenario, self.path, tag)
        self.places = workbook.build(self.scenario, tag)[2].of
        self.formulas = [key for key, cell in self.model.cells.items() if cell.expression is not None]

    def differences(self, engine, changed: dict) -> list[str]:
        """Where an engine, given changed inputs, does not say what exact evaluation says."""
        written = {self.places[key]: engines.shown(self.model, key, value) for key, value in changed.items()}
        return self.compare(engine(self.path, written, [self.places[key] for key in self.formulas]), changed)

    def compare(self, answers, changed: dict) -> list[str]:
        expected = engines.exact(self.model, self.inputs | changed)
        found = []
        for key in self.formulas:
            problem = engines.disagreement(answers[self.places[key]], engines.shown(self.model, key, expected[key]))
            if problem:
                found.append(f"{key} at {self.places[key]}: {problem}")
        return found

    def random_inputs(self, random: Random) -> dict:
        """A new value for every input of the scenario, within its limits."""
        return {key: random_value(cell.quantity, random) for key, cell in self.scenario.model.inputs.items()}


def random_value(quantity, random: Random):
    if quantity.choices:
        return random.randrange(len(quantity.choices))
    low, high = quantity.limits
    if quantity.unit.power:
        return low if low == high else random.randint(0, 2**36)
    if quantity.whole:
        return random.randint(int(low), int(min(high or 5000, 5000)))
    return round(random.uniform(low, min(high or 4, 4)), 3)


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    made: dict[tuple[str, str], Book] = {}

    def book(name: str, tag: str = "en") -> Book:
        if (name, tag) not in made:
            made[name, tag] = Book(name, tmp_path_factory.mktemp("books"), tag)
        return made[name, tag]

    return book


@pytest.mark.parametrize("engine", [engines.formualizer, engines.ironcalc], ids=["formualizer", "ironcalc"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_formula_cell_agrees_as_built(books, name, engine):
    assert books(name).differences(engine, {}) == []


@pytest.mark.parametrize("engine", [engines.formualizer, engines.ironcalc], ids=["formualizer", "ironcalc"])
@pytest.mark.parametrize("name", SCENARIOS)
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_every_formula_cell_agrees_after_random_changes(books, name, engine, seed):
    book = books(name)
    assert book.differences(engine, book.random_inputs(Random(seed))) == []


@pytest.mark.parametrize("engine", [engines.formualizer, engines.ironcalc], ids=["formualizer", "ironcalc"])
@pytest.mark.parametrize("seed", range(4))
def test_every_formula_cell_agrees_in_chinese(books, engine, seed):
    """The words of inputs go in as scenario files say them; those that formulas decide come out in Chinese."""
    book = books("h200-ppo-lora", "zh")
    assert book.differences(engine, book.random_inputs(Random(seed)) if seed else {}) == []


@pytest.mark.parametrize("name", ["h200-ppo-lora", "table-1-full-7b"])
def test_every_word_of_every_option_is_tried(books, name):
    book = books(name)
    for key, cell in book.scenario.model.inputs.items():
        for number in range(len(cell.quantity.choices)):
            assert book.differences(engines.formualizer, {key: number}) == [], f"{key} = {cell.quantity.choices[number]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SCENARIOS, "seed-1-development", "seed-3-large"])
@pytest.mark.parametrize("seed", [0, 1])
def test_libreoffice_agrees_in_every_formula_cell(books, tmp_path, name, seed):
    """Every stored value in the file is wrong, so an agreeing cell has been recalculated: each one is a canary."""
    book = books(name)
    changed = book.random_inputs(Random(seed)) if seed else {}
    file, stored, _ = workbook.build(book.scenario)
    for key, value in changed.items():
        place = book.places[key]
        file[place.sheet].cell(place.row, place.column).value = engines.shown(book.model, key, value)
    wrong = {
        sheet: {address: "canary" if isinstance(value, str) else -1.5 for address, value in cells.items()}
        for sheet, cells in stored.items()
    }
    xlsx.save(file, tmp_path / "canary.xlsx", wrong)
    answers = engines.libreoffice(tmp_path / "canary.xlsx", [book.places[key] for key in book.formulas])
    assert book.compare(answers, changed) == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", [engines.formualizer, engines.ironcalc], ids=["formualizer", "ironcalc"])
@pytest.mark.parametrize("seed", range(4))
def test_the_large_workbook_agrees_in_every_role_stage_and_instant(books, engine, seed):
    book = books("seed-3-large")
    assert book.differences(engine, book.random_inputs(Random(seed)) if seed else {}) == []


@pytest.mark.parametrize("name", ["h200-ppo-lora", "seed-3-large"])
def test_openxml_audit_finds_nothing(books, name):
    from openxml_audit import OpenXmlValidator

    result = OpenXmlValidator().validate(books(name).path)
    assert result.is_valid, result.errors


def test_the_same_scenario_gives_the_same_bytes(books):
    assert books("h200-ppo-lora").path.read_bytes() == workbook.contents(scenario.load("h200-ppo-lora"))


def test_every_formula_stores_its_value(books):
    book = books("h200-ppo-lora")
    values = openpyxl.load_workbook(book.path, data_only=True)
    for key in book.formulas:
        place = book.places[key]
        assert values[place.sheet].cell(place.row, place.column).value is not None, f"{key} at {place}"
