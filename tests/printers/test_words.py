"""Formulas in plain words, with names and with numbers."""

import pytest
import sympy

from memsheet import scenario, terminal
from memsheet.declare import TABLE, Quantity, choose, highest, is_word, lowest, when
from memsheet.printers.words import Words, names, numbers
from memsheet.units import count, words


def symbol(name: str, choices: tuple[str, ...] = ()) -> sympy.Symbol:
    made = sympy.Dummy(name, real=True)
    TABLE[made] = Quantity(made, name, words if choices else count, "test", "scenario", name=name, choices=choices)
    return made


a, b, c, long_name = map(symbol, ("a", "b", "c", "long_name"))
method = symbol("method", ("full", "lora", "frozen"))
trained = symbol("trained", ("no", "yes"))

SENTENCES = [
    (a * b / (c * long_name), "a × b ÷ (c × long name)"),
    (a - b / c, "a − b ÷ c"),
    (-a, "−a"),
    (sympy.Mul(-1, c, a + b), "−(a + b) × c"),
    (1 / a, "1 ÷ a"),
    (long_name**2 * a, "(long name)² × a"),
    ((a + b) ** 3, "(a + b)³"),
    (a ** sympy.Rational(1, 2), "(a)^(1 ÷ 2)"),
    (2_147_483_648 + a, "2,147,483,648 + a"),
    (1.02 * a, "1.02 × a"),
    (sympy.ceiling(a / b) * c, "c × round up (a ÷ b)"),
    (sympy.floor(a / b), "round down (a ÷ b)"),
    (highest(a, b + c), "the largest of (a; b + c)"),
    (lowest(a, b), "the smallest of (a; b)"),
    (choose(method, full=a, lora=b, frozen=0), "if method is full: a; if method is lora: b; otherwise 0"),
    (choose(method, full=a, lora=a, frozen=b), "if method is full or lora: a; otherwise b"),
    (c + choose(trained, no=0, yes=a), "c + (if trained is no: 0; otherwise a)"),
    (choose(trained, no=0, yes=choose(method, full=a, lora=b, frozen=c)),
     "if trained is no: 0; otherwise (if method is full: a; if method is lora: b; otherwise c)"),
    (when(is_word(method, "full", "lora", "frozen") & (a >= b), 1, 2), "if a ≥ b and (method is full, lora or frozen): 1; otherwise 2"),
    (when((a > b) | ((b > c) & ~is_word(method, "full")), 1, 2), "if a > b or (b > c and method is not full): 1; otherwise 2"),
    (when(~is_word(method, "full", "lora"), 1, 2), "if not (method is full or lora): 1; otherwise 2"),
    (when(sympy.Eq(a, 1), b, c), "if a = 1: b; otherwise c"),
    (when(sympy.Ne(a, b), b, c), "if a ≠ b: b; otherwise c"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "sentence"), SENTENCES)
def test_sentences(expression, sentence, cell_of):
    assert Words().text(cell_of(expression), names) == sentence


@pytest.fixture(scope="module")
def loaded():
    return scenario.load("h200-ppo-lora")


def both(loaded, name: str) -> tuple[str, str]:
    """The sentence of the first cell that is called that, with names and with numbers."""
    cell = next(cell for key, cell in loaded.model.cells.items() if str(key) == name)
    return Words().text(cell, names), Words().text(cell, numbers(loaded.model, loaded.values, terminal.value_text))


def test_every_cell_has_both_sentences(loaded):
    for key, cell in loaded.model.cells.items():
        if cell.expression is not None:
            assert all(text and text.isprintable() for text in both(loaded, str(key)))


def test_an_option_keeps_its_name_beside_its_word(loaded):
    named, numbered = both(loaded, "adapter_width [actor]")
    assert named == "if adapter precision is fp32: fp32; otherwise bf16"
    assert numbered == "if adapter precision (fp32) is fp32: 4 B; otherwise 2 B"


def test_ranges_are_named_by_what_they_run_over(loaded):
    assert both(loaded, "peak [main]")[0] == "the largest of (least device at every instant)"
    named, numbered = both(loaded, "allocated [trainer @ load]")
    assert named.startswith("the sum of (weights of actor; ")
    assert numbered.startswith("the sum of (12.55 GiB; ")


def test_another_column_is_named(loaded):
    named, _ = both(loaded, "reserved [trainer @ critic_score]")
    assert "reserved at ref log prob" in named and " at critic score" not in named


def test_a_catalogue_is_named(loaded):
    named, numbered = both(loaded, "hidden_size [actor]")
    assert named == "hidden size in catalogue models for model"
    assert numbered == "hidden size in catalogue models for model (llama-7b)"


def test_a_negative_number_stands_in_brackets(loaded):
    cell = next(cell for key, cell in loaded.model.cells.items() if str(key) == "headroom [main]")
    values = loaded.values | dict.fromkeys(cell.reads(), -(2**30))
    assert Words().text(cell, numbers(loaded.model, values, terminal.value_text)) == "(-1.00 GiB) − (-1.00 GiB)"
