"""What a declaration refuses, and that it says where: `chapter.py:LINE`."""

import re
from pathlib import Path

import pytest
import sympy

from memsheet import chapters as chapter_files
from memsheet.catalogue import Catalogue, Column
from memsheet.declare import (
    DeclarationError,
    all_of,
    at,
    by_stage,
    byte,
    catalogue_option,
    catalogue_value,
    choose,
    components,
    count,
    decide,
    define,
    every,
    given,
    highest,
    implies,
    is_word,
    name_of_highest,
    of,
    quantity_of,
    running,
    tokens,
    total_of,
    unit_of,
    when,
    words,
)

SOURCE = {"source": "a test"}


def refused(message: str):
    """A DeclarationError that names this file and a line, and says this."""
    return pytest.raises(DeclarationError, match=rf"^{re.escape(__file__)}:\d+: .*{message}")


@pytest.fixture
def width():
    return given("Bytes of a number", byte, per="scenario", source="a test", default=2)


@pytest.fixture
def length():
    return given("Tokens of a sequence", tokens, per="scenario")


@pytest.fixture
def method():
    return given("Method", choices=("full", "lora", "frozen"), per="scenario")


# --- units ---


def test_bytes_and_tokens_are_not_added(width, length):
    with refused(r"Wrong: adds quantities of different dimensions: byte\^0 and byte\^1"):
        define(width + length, "Wrong", byte, **SOURCE)


def test_the_line_is_that_of_the_declaration(width, length):
    line = test_the_line_is_that_of_the_declaration.__code__.co_firstlineno + 3
    with pytest.raises(DeclarationError, match=f"^{re.escape(__file__)}:{line}: "):
        define(width + length, "Wrong", byte, **SOURCE)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (lambda width, length, method: highest(width, length), "compares"),
        (lambda width, length, method: when(width > length, 1, 2), "compares"),
        (lambda width, length, method: when(all_of(length > 1, width > length), 1, 2), "compares"),
        (lambda width, length, method: choose(method, full=width, lora=length, frozen=0), "chooses between"),
        (lambda width, length, method: when(length > 1, width, length), "chooses between"),
        (lambda width, length, method: sympy.ceiling(width / length), "rounds bytes"),
        (lambda width, length, method: width ** sympy.Rational(1, 2), "not a whole number"),
        (lambda width, length, method: width**length, "not a whole number"),
        (lambda width, length, method: sympy.sin(length), "no dimension rule for sin"),
        (lambda width, length, method: width**2, r"declared in byte, works out as byte\^2"),
        (lambda width, length, method: length, r"declared in byte, works out as byte\^0"),
    ],
)
def test_dimensions_that_do_not_come_out_are_refused(wrong, why, width, length, method):
    with refused(why):
        define(wrong(width, length, method), "Wrong", byte, **SOURCE)


def test_dimensions_that_come_out(width, length, method):
    assert unit_of(define(width * length, "Right", byte, **SOURCE)) == byte
    assert unit_of(define(choose(method, full=width, lora=2 * width, frozen=0), "Right", byte, **SOURCE)) == byte
    assert unit_of(define(sympy.ceiling(width * length / width), "Right", count, **SOURCE)) == count
    assert unit_of(define(0, "Nothing is nothing of anything", byte, **SOURCE)) == byte


# --- what every line must say ---


@pytest.mark.parametrize(("label", "source"), [("", "a test"), ("  ", "a test"), ("Label", ""), ("Label", " ")])
def test_a_formula_without_label_or_source_is_refused(label, source, width):
    with refused("needs a label and a source"):
        define(width * 2, label, byte, source=source)


def test_a_formula_whose_unit_is_not_named_is_in_bytes(length):
    with refused("declared in byte"):
        define(length * 2, "Twice", **SOURCE)


def test_a_default_in_bytes_needs_a_source():
    with refused("a default in bytes is a claim"):
        given("Context", byte, default=800)


def test_a_default_that_is_no_choice_is_refused():
    with refused("the default 'maybe' is not among the choices no, yes"):
        given("Trained", choices=("no", "yes"), default="maybe")


def test_an_unknown_level_is_refused(width):
    with refused("per='gpu': one of scenario, card, process, role"):
        given("Input", per="gpu")
    with refused("per='gpu'"):
        define(width, "Formula", byte, per="gpu", **SOURCE)


# --- words ---


def test_choose_answers_every_word(method):
    with refused("choose: frozen: missing"):
        choose(method, full=1, lora=2)
    with refused("choose: qlora: missing, or not a word of 'Method'"):
        choose(method, full=1, lora=2, frozen=3, qlora=4)


def test_an_unknown_word_is_refused(method):
    with refused(r"lroa: not a word of 'Method' \(full, lora, frozen\)"):
        is_word(method, "lora", "lroa")


def test_the_last_answer_is_unconditional(length):
    with refused("the last answer must be unconditional"):
        decide("Verdict", ("fits", length > 1), ("tight", length > 2), **SOURCE)


def test_implication(length, method):
    condition = implies(is_word(method, "lora"), length > 1)
    symbols = {method: 1, length: 1}
    assert condition.subs(symbols) == sympy.false
    assert condition.subs({**symbols, length: 2}) == sympy.true
    assert condition.subs({**symbols, method: 0}) == sympy.true


# --- other columns ---


def test_every_asks_for_cells_that_exist(width):
    per_role = given("Of a role")
    in_time = define(total_of(components("process")), "Allocated", byte, **SOURCE)
    for what, quantity in (
        ("instant", width),
        ("role", width),
        ("card", per_role),
        ("process", per_role),
        ("card", in_time),
        ("gpu", per_role),
    ):
        with refused(f"every\\('{what}'\\): .* has no such cells"):
            every(what, quantity)
    assert every("role", per_role) and every("instant", in_time) and every("process", in_time)


def test_at_asks_for_what_changes_with_time(width):
    with refused("'Bytes of a number' does not change with time"):
        at("load", width)


def test_running_needs_what_changes_with_time(width):
    with refused("running\\(\\) needs a quantity that changes"):
        running(width, "Reserved", byte, emptied=width, **SOURCE)


def test_running_checks_both_of_its_formulas(length):
    in_time = define(total_of(components("process")), "Allocated", byte, **SOURCE)
    with refused("declared in byte"):
        running(in_time, "Reserved", byte, emptied=length, **SOURCE)
    assert quantity_of(running(in_time, "Reserved", byte, emptied=in_time / 2, **SOURCE)).timed


def test_every_stage_is_checked(length):
    with refused("declared in byte"):
        by_stage("Embedding", byte, only=0, first=0, middle=0, last=length, **SOURCE)


def test_the_level_of_a_formula_is_the_finest_that_it_reads(width):
    per_role, per_process, per_card = given("Role"), given("Process", per="process"), given("Card", per="card")
    assert quantity_of(define(width * 2, "w", byte, **SOURCE)).per == "scenario"
    assert quantity_of(define(per_card * width, "w", byte, **SOURCE)).per == "card"
    assert quantity_of(define(per_card * per_process * width, "w", byte, **SOURCE)).per == "process"
    assert quantity_of(define(per_card * per_role * width, "w", byte, **SOURCE)).per == "role"
    assert quantity_of(define(of("actor", per_role) * width, "w", byte, **SOURCE)).per == "card"
    assert quantity_of(define(width * 2, "w", byte, per="card", **SOURCE)).per == "card"


def test_the_name_of_the_highest_is_a_word():
    assert unit_of(name_of_highest(components("card"), "Largest", **SOURCE)) == words


# --- catalogues ---

CARDS = Catalogue(
    "cards", "Cards", {"memory": Column("Memory", byte)}, {"small": {"memory": 24}, "large": {"memory": 80}},
    {"small": "Small", "large": "Large"}, {"small": "a test", "large": "a test"},
)  # fmt: skip


def test_a_catalogue_fills_in_what_its_option_chooses():
    option = catalogue_option(CARDS, "Card", per="card")
    memory = quantity_of(catalogue_value(option, "memory"))
    assert quantity_of(option).choices == ("small", "large")
    assert (memory.label, memory.unit, memory.per) == ("Memory", byte, "card")
    assert memory.lookup.args[0] == option


def test_a_catalogue_without_that_column_is_refused(method):
    with refused("no catalogue column 'speed' behind 'Card'"):
        catalogue_value(catalogue_option(CARDS, "Card"), "speed")
    with refused("no catalogue column 'memory' behind 'Method'"):
        catalogue_value(method, "memory")


# --- chapters ---


def chapters(folder: Path, **files: str) -> Path:
    """A folder of formulas; each chapter begins by importing all there is to declare with."""
    folder.mkdir()
    (folder / "__init__.py").write_text(f"CHAPTERS = {tuple(files)!r}\n")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(f'"""Chapter {name}. More about it."""\nfrom memsheet.declare import *\n{text}')
    return folder


def test_names_come_from_the_module(tmp_path):
    first = 'width = given("Width", byte, per="scenario")\nHEADLINE = {"peak": width}\n'
    second = 'from .first import width\ntwice = define(2 * width, "Twice", source="a test")\nSTATISTICS = {"device": twice}\n'
    loaded = chapter_files.load(chapters(tmp_path / "formulas", first=first, second=second), "test_names_come_from_the_module")
    assert list(loaded.rows) == ["width", "twice"]
    assert loaded["twice"].chapter == "second" and loaded["twice"].where.endswith("second.py:4")
    assert loaded.chapters["first"] == "Chapter first. More about it"
    assert (loaded.headline, loaded.statistics) == ({"peak": "width"}, {"device": "twice"})


def test_a_formula_without_a_name_is_refused(tmp_path):
    folder = chapters(tmp_path / "formulas", one='width = given("Width", byte)\ndefine(width * 2, "Lost", source="a test")\n')
    with pytest.raises(DeclarationError, match=r"one\.py:4: 'Lost' is declared but given no name"):
        chapter_files.load(folder, "test_a_formula_without_a_name_is_refused")


def test_a_name_is_declared_once(tmp_path):
    line = 'width = given("Width", byte)\n'
    with pytest.raises(DeclarationError, match=r"two\.py:3: width is declared twice, first at .*one\.py:3"):
        chapter_files.load(chapters(tmp_path / "formulas", one=line, two=line), "test_a_name_is_declared_once")


def test_a_folder_without_chapters_is_refused(tmp_path):
    with pytest.raises(DeclarationError, match=r"no formulas here \(an __init__\.py that lists CHAPTERS is missing\)"):
        chapter_files.load(tmp_path, "test_a_folder_without_chapters_is_refused")


def test_test_chapters_do_not_reach_the_built_in_ones():
    from memsheet import scenario

    assert "twice" not in scenario.declaration().rows
