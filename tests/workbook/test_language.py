"""A workbook in Chinese is the English one in other words: same places, same numbers, same words in its inputs."""

import io
import re
import zipfile
from dataclasses import replace
from functools import cache

import openpyxl
import pytest

from memsheet import batch, language, scenario, workbook
from memsheet.language import LanguageError
from memsheet.workbook import views
from memsheet.workbook.wording import Formulas, Wording

CHINESE = language.load("zh")
SCENARIOS = ["h200-ppo-lora", "seed-3-large", "table-1-full-7b"]
A_TEXT_IN_A_FORMULA = re.compile('"[^"]*"')


@cache
def loaded(name: str) -> scenario.Scenario:
    return scenario.load(name)


@cache
def built(name: str, tag: str):
    return workbook.build(loaded(name), tag)


def cells(name: str, tag: str):
    """(sheet, address) -> the cell, of every cell with content."""
    everything = ((sheet.title, cell) for sheet in built(name, tag)[0] for row in sheet.iter_rows() for cell in row)
    return {(title, cell.coordinate): cell for title, cell in everything if cell.value is not None}


def stored(name: str, tag: str):
    return {(sheet, address): value for sheet, values in built(name, tag)[1].items() for address, value in values.items()}


def shown(name: str, tag: str, headline: str) -> object:
    """What the Summary says of the first card."""
    place = next(place for key, place in built(name, tag)[2].of.items() if key.row == f"{views.SUMMARY}.{headline}")
    return stored(name, tag)[place.sheet, place.address]


@pytest.mark.parametrize("name", SCENARIOS)
def test_formulas_and_numbers_are_the_same_in_both_languages(name):
    english, chinese = cells(name, "en"), cells(name, "zh")
    assert english.keys() == chinese.keys()
    for place, cell in english.items():
        other = chinese[place]
        assert cell.data_type == other.data_type, place
        if cell.data_type == "f":
            assert A_TEXT_IN_A_FORMULA.sub("", cell.value) == A_TEXT_IN_A_FORMULA.sub("", other.value), place
        elif cell.data_type == "n":
            assert cell.value == other.value, place
    numbers = {place: value for place, value in stored(name, "en").items() if not isinstance(value, str)}
    assert numbers == {place: value for place, value in stored(name, "zh").items() if not isinstance(value, str)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_words_of_inputs_are_those_of_scenario_files(name):
    """In the cell, in its list, and in the formulas that compare with it."""
    model, chinese = loaded(name).model, built(name, "zh")
    lists = {str(found.sqref): found.formula1 for found in chinese[0]["Inputs"].data_validations.dataValidation}
    assert lists == {str(found.sqref): found.formula1 for found in built(name, "en")[0]["Inputs"].data_validations.dataValidation}
    options = [key for key, cell in model.inputs.items() if cell.quantity.choices]
    assert options
    for key in options:
        place = chinese[2].of[key]
        assert chinese[0][place.sheet][place.address].value == model.cells[key].quantity.choices[int(loaded(name).inputs[key])], key
    words = {word for key in options for word in model.cells[key].quantity.choices}
    compared = set()
    for cell in cells(name, "zh").values():
        if cell.data_type == "f":
            compared |= {text.strip('"') for text in A_TEXT_IN_A_FORMULA.findall(cell.value) if text.isascii()}
    assert compared and compared <= words


def test_an_option_keeps_its_word_where_the_language_has_another():
    rows = scenario.declaration().rows.values()
    strange = replace(CHINESE, labels={"words": {word: f"{word}!" for row in rows for word in row.choices}})
    model, formulas = Wording(strange).model(loaded("h200-ppo-lora").model), Formulas(strange)
    for row in rows:
        words = row.choices if row.is_given else tuple(f"{word}!" for word in row.choices)
        assert model.declaration[row.name].choices == formulas.words_of(row.symbol) == words
    assert all(cell.quantity.choices == model.declaration[key.row].choices for key, cell in model.cells.items())


def test_what_formulas_decide_is_said_in_the_language():
    assert (shown("h200-ppo-lora", "en", "verdict"), shown("h200-ppo-lora", "zh", "verdict")) == ("fits", "放得下")
    assert shown("h200-ppo-lora", "zh", "peak_instant") == CHINESE.instant(str(shown("h200-ppo-lora", "en", "peak_instant")))
    component, _, role = str(shown("h200-ppo-lora", "en", "peak_component")).partition(", ")
    row = next(row for row in scenario.declaration().rows.values() if row.label == component)
    assert shown("h200-ppo-lora", "zh", "peak_component") == f"{CHINESE.label(row)}，{role}"
    assert shown("seed-3-large", "zh", "status") == CHINESE.text("workbook.some_less_sure")


def test_no_two_answers_of_a_formula_are_one_word_in_chinese():
    """Other cells tell them apart by their words."""
    decided = {row.choices for row in scenario.declaration().rows.values() if row.choices and not row.is_given}
    assert decided
    for choices in decided:
        assert len(set(map(CHINESE.word, choices))) == len(choices)
    assert len(set(map(Wording(CHINESE).text, views.STATUS))) == len(views.STATUS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_colours_stand_for_words_that_cells_can_say(name):
    wording = Wording(CHINESE)
    model = wording.model(loaded(name).model)
    said = {word for cell in model.cells.values() for word in cell.quantity.choices} | {wording.text(key) for key in views.STATUS}
    rules = [rule for sheet in built(name, "zh")[0] for area in sheet.conditional_formatting for rule in area.rules]
    words = {rule.formula[0].strip('"') for rule in rules}
    assert {"通过", "不涵盖", "放得下", "放不下"} <= words <= said


@pytest.mark.parametrize("name", SCENARIOS)
def test_all_that_is_left_in_english_is_somebodys_text_or_a_word_of_a_file(name):
    case, declaration = loaded(name), scenario.declaration()
    catalogues = {row.catalogue for row in declaration.rows.values() if row.catalogue}
    kept = {case.title, case.description, *case.assumptions, *built(name, "zh")[0].sheetnames}
    kept |= {text for row in declaration.rows.values() for text in (row.name, row.source, row.note, *(row.choices if row.is_given else ()))}
    kept |= {*CHINESE.labels["quantities"].values(), *CHINESE.labels["words"].values()}  # GPU, rank, token
    kept |= {text for one in catalogues for word in one.rows for text in (word, one.labels[word], one.sources[word])}
    kept |= {role.name for role in case.model.layout.roles}
    owners = {owner for role in case.model.layout.roles for owner in (role.name, role.process, role.pool)}
    kept |= {f"{owner}.{name}" for owner in owners for name in declaration.rows}
    for pair in views.build(case, CHINESE).pairs:
        kept |= {pair.record.title, pair.record.source, pair.record.where, pair.record.when, pair.figure.note}
    english = {cell.value for cell in cells(name, "zh").values() if cell.data_type == "s" and re.fullmatch("[ -~]+", cell.value)}
    assert english <= kept, english - kept


def test_charts_are_told_in_the_language():
    file = zipfile.ZipFile(io.BytesIO(workbook.contents(loaded("h200-ppo-lora"), "zh")))
    chart = file.read("xl/charts/chart1.xml").decode()
    assert CHINESE.text("workbook.chart_axis") in chart
    assert CHINESE.text("workbook.chart_title", card=CHINESE.text("workbook.the_card")) in chart


def test_the_same_scenario_and_language_give_the_same_bytes():
    once = workbook.contents(loaded("table-1-full-7b"), "zh")
    assert once == workbook.contents(scenario.load("table-1-full-7b"), "zh")
    assert once != workbook.contents(loaded("table-1-full-7b"))


def test_a_batch_writes_workbooks_in_its_language(tmp_path):
    done = batch.run(batch.Job("table-1-full-7b", (), tmp_path, pdf=False, language="zh"))
    assert done.problems == ()
    assert openpyxl.load_workbook(done.files[0])["Inputs"]["A1"].value == CHINESE.text("workbook.inputs")


def test_a_language_that_there_is_not_is_refused(tmp_path):
    with pytest.raises(LanguageError, match="en, zh"):
        workbook.write(loaded("table-1-full-7b"), tmp_path / "a.xlsx", "fr")
    assert not list(tmp_path.iterdir())


def test_openxml_audit_finds_nothing(tmp_path):
    from openxml_audit import OpenXmlValidator

    workbook.write(loaded("h200-ppo-lora"), tmp_path / "a.xlsx", "zh")
    result = OpenXmlValidator().validate(tmp_path / "a.xlsx")
    assert result.is_valid, result.errors
