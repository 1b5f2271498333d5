"""What every printer must do: refuse what it does not know, and keep the meaning of brackets."""

import hashlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sympy

from memsheet import nodes
from memsheet.declare import TABLE, Quantity, choose, decide, highest, is_word
from memsheet.printers.base import Printer, PrintError
from memsheet.printers.excel import Excel
from memsheet.printers.html import Html
from memsheet.printers.latex import Latex
from memsheet.printers.numpy import Numpy
from memsheet.printers.python import Python
from memsheet.printers.words import Words
from memsheet.units import count, words

PRINTERS = (Excel, Python, Numpy, Latex, Words, Html)


def symbol(name: str, choices: tuple[str, ...] = ()) -> sympy.Symbol:
    made = sympy.Dummy(name, real=True)
    TABLE[made] = Quantity(made, name, words if choices else count, "test", "scenario", name=name, choices=choices)
    return made


a, b, c, x, y = map(symbol, "abcxy")
method = symbol("method", ("full", "lora", "frozen"))
other_method = symbol("other_method", ("full", "lora", "frozen"))
unlike = symbol("unlike", ("no", "yes"))
index = sympy.Symbol("i", integer=True)


def names(slot, cell):
    return cell.refs[slot.subject].row


UNKNOWN = {
    "sine": sympy.sin(x),
    "sine inside": 2 * a + sympy.Max(sympy.sin(x), b),
    "undefined function": sympy.Function("f")(x),
    "function named like ours": sympy.Function("Total")(x),
    "remainder": sympy.Mod(x, y),
    "sum": sympy.Sum(index * x, (index, 1, 3)),
    "logarithm": sympy.log(x),
    "exponential": sympy.exp(x),
    "absolute value": sympy.Abs(x),
    "factorial": sympy.factorial(x),
    "infinity": x + sympy.oo,
    "not a number": sympy.nan,
    "pi": sympy.pi * x,
    "imaginary": sympy.I * x,
    "matrix": sympy.ImmutableMatrix([x]),
    "unevaluated": sympy.UnevaluatedExpr(x) + y,
    "exclusive or": sympy.Piecewise((a, sympy.Xor(x > 1, y > 1)), (b, True)),
    "a choice in a condition": sympy.Piecewise((a, x > sympy.Piecewise((1, y > 2), (0, True))), (b, True)),
    "true": sympy.true,
    "branches without otherwise": sympy.Piecewise((a, x > 1), (b, x < 0)),
    "order of words": sympy.Piecewise((a, method > 1), (b, True)),
    "no such word": sympy.Piecewise((a, sympy.Eq(method, 7)), (b, True)),
    "a word and a number": sympy.Piecewise((a, sympy.Eq(method, x)), (b, True)),
    "words of two options": sympy.Piecewise((a, sympy.Eq(method, unlike)), (b, True)),
}


@pytest.mark.parametrize("printer", PRINTERS, ids=lambda printer: printer.__name__)
@pytest.mark.parametrize("expression", UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_nodes_are_refused(printer, expression, cell_of):
    with pytest.raises(PrintError):
        printer().template(cell_of(expression))


@pytest.mark.parametrize("node", [nodes.AtHighest(x, y), nodes.NameOfHighest(x)])
def test_numpy_refuses_words(node, cell_of):
    with pytest.raises(PrintError, match="scalar target"):
        Numpy().template(cell_of(node))


def test_a_printer_must_say_how_it_writes_a_power(cell_of):
    class Half(Printer):
        pass

    with pytest.raises(NotImplementedError):
        Half().template(cell_of(a**b))


def unevaluated(kind, *arguments):
    return kind(*arguments, evaluate=False)


def quotient(above, below):
    return unevaluated(sympy.Mul, above, unevaluated(sympy.Pow, below, sympy.Integer(-1)))


half = sympy.Rational(1, 2)
step = sympy.Piecewise((a, x > 1), (b, True))

#: expression, Excel, Python
PRECEDENCE = [
    (unevaluated(sympy.Mul, -1, unevaluated(sympy.Pow, sympy.Integer(2), sympy.Integer(2))), "-1*(2^2)", "-1*2**2"),
    (unevaluated(sympy.Pow, sympy.Integer(-2), sympy.Integer(2)), "((-2)^2)", "(-2)**2"),
    (-(x**2), "-1*(x^2)", "-1*x**2"),
    (-(x**2) * y, "-1*(x^2)*y", "-1*x**2*y"),
    ((-x) ** sympy.Integer(3), "-1*(x^3)", "-1*x**3"),
    ((x - y) ** 2, "((x-y)^2)", "(x-y)**2"),
    (x ** (y**2), "(x^((y^2)))", "x**(y**2)"),
    ((x**y) ** 2, "(x^(2*y))", "x**(2*y)"),
    (unevaluated(sympy.Pow, x**y, 2), "(((x^y))^2)", "(x**y)**2"),
    (x**-y, "(x^(-1*y))", "x**(-1*y)"),
    (x**half, "(x^(1/2))", "x**(1/2)"),
    (x**-half, "1/(x^(1/2))", "1/x**(1/2)"),
    (x**-2, "1/(x^2)", "1/x**2"),
    (-1 / x, "-1/x", "-1/x"),
    (1 / (x + y), "1/(x+y)", "1/(x+y)"),
    (a - (b - c), "a+c-b", "a+c-b"),
    (unevaluated(sympy.Add, a, unevaluated(sympy.Mul, -1, b - c)), "a-(b-c)", "a-(b-c)"),
    (-a - b, "-1*a-b", "-1*a-b"),
    (-2 * a + b, "b-2*a", "b-2*a"),
    (a - c * (b - a), "a-(b-a)*c", "a-(b-a)*c"),
    (a / (b * c), "a/(b*c)", "a/(b*c)"),
    ((a + b) / c, "(a+b)/c", "(a+b)/c"),
    (c / (a + b), "c/(a+b)", "c/(a+b)"),
    (quotient(a, b / c), "a/(b/c)", "a/(b/c)"),
    (quotient(a, unevaluated(sympy.Mul, a + b, c)), "a/((a+b)*c)", "a/((a+b)*c)"),
    (quotient(a, unevaluated(sympy.Pow, b, sympy.Integer(-1))), "a/(1/b)", "a/(1/b)"),
    (sympy.Rational(2, 3) * x, "2*x/3", "2*x/3"),
    (sympy.Rational(-2, 3) * x, "-2*x/3", "-2*x/3"),
    (-x / 3, "-1*x/3", "-1*x/3"),
    (x / (3 * y), "x/(3*y)", "x/(3*y)"),
    (x + sympy.Rational(1, 3), "1/3+x", "1/3+x"),
    (x - sympy.Rational(1, 3), "x-1/3", "x-1/3"),
    (sympy.Float(-0.5) * x, "-0.5*x", "-0.5*x"),
    (unevaluated(sympy.Mul, x, sympy.Integer(-2)), "x*(-2)", "x*(-2)"),
    (step * c, "c*IF(x>1,a,b)", "c*(a if x > 1 else b)"),
    (quotient(c, step), "c/IF(x>1,a,b)", "c/(a if x > 1 else b)"),
    (step + c, "c+IF(x>1,a,b)", "c+(a if x > 1 else b)"),
    (highest(a, b - c), "MAX(a,b-c)", "max(a, b-c)"),
    (sympy.ceiling(a / b) * c, "c*CEILING(a/b,1)", "c*ceil(a/b)"),
    (sympy.floor(a / b), "INT(a/b)", "floor(a/b)"),
    (sympy.Piecewise((a, sympy.Ne(x, y)), (b, True)), "IF(x<>y,a,b)", "(a if x != y else b)"),
    (sympy.Piecewise((a, (x > 1) & ((y > 1) | (x > y))), (b, True)), "IF(AND(x>1,OR(x>y,y>1)),a,b)", None),
    (choose(method, full=a, lora=b, frozen=0), 'IF(method="full",a,IF(method="lora",b,0))',
     "(a if method == 0 else (b if method == 1 else 0))"),
    (sympy.Piecewise((a, sympy.Eq(method, other_method)), (b, True)), "IF(method=other_method,a,b)",
     "(a if method == other_method else b)"),
    (sympy.Piecewise((a, ~is_word(method, "full")), (b, True)), 'IF(method<>"full",a,b)', "(a if method != 0 else b)"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "excel", "python"), PRECEDENCE)
def test_precedence(expression, excel, python, cell_of):
    cell = cell_of(expression)
    assert Excel().text(cell, names) == excel
    if python is not None:
        assert Python().text(cell, names) == python


def test_the_results_of_a_row_of_words_are_words(cell_of):
    cell = cell_of(sympy.Piecewise((1, x > 1), (sympy.Piecewise((0, y > 1), (1, True)), True)), ("fits", "tight"))
    assert Excel().text(cell, names) == 'IF(x>1,"tight",IF(y>1,"fits","tight"))'
    assert Python().text(cell, names) == "(1 if x > 1 else (0 if y > 1 else 1))"
    assert Words().text(cell, names) == 'if x > 1: "tight"; otherwise (if y > 1: "fits"; otherwise "tight")'


def test_a_word_without_any_condition_is_still_a_word(cell_of):
    assert Excel().text(cell_of(sympy.Integer(1), ("fits", "tight")), names) == '"tight"'


def test_two_answers_with_the_same_word_are_one_word():
    row = TABLE[decide("Verdict", ("no", x > 3), ("yes", x > 2), ("no", True), source="test")]
    from memsheet.model import Cell, Key

    cell = Cell(Key("verdict"), row, row.expression, {x: Key("x")})
    assert Python().text(cell, names) == "(0 if x > 3 else (1 if x > 2 else 0))"


def test_a_quotation_mark_in_a_word_is_doubled(cell_of):
    assert Excel().text(cell_of(sympy.Integer(0), ('24" rack',)), names) == '"24"" rack"'


def test_a_row_of_many_columns_is_printed_once(cell_of, monkeypatch):
    excel, printed = Excel(), []
    monkeypatch.setattr(excel, "top", lambda expression: printed.append(expression) or "1")
    first = cell_of(a + b)
    second = replace(first, refs={a: first.refs[b], b: first.refs[a]})
    assert excel.template(first) is excel.template(second)
    excel.template(replace(first, expression=a + b * 2))
    assert printed == [a + b, a + 2 * b]


TEXTS = """
from memsheet import scenario, terminal
from memsheet.printers import excel, html, latex, python, words
loaded = scenario.load("h200-ppo-lora")
for printer in (excel.Excel(), python.Python(), latex.Latex(), words.Words(), html.Html()):
    for key, cell in loaded.model.cells.items():
        if cell.expression is not None:
            template = printer.template(cell)
            print(key, template.texts, [(slot.kind, str(cell.refs.get(slot.subject, slot.subject))) for slot in template.slots])
"""


def test_the_same_input_prints_the_same_text_in_every_process():
    """sympy orders symbols by a number that starts at random in each process, and sets by their hash."""

    def digest(seed: str) -> str:
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        printed = subprocess.run([sys.executable, "-c", TEXTS], env=environment, capture_output=True, check=True).stdout
        assert len(printed) > 50_000
        return hashlib.sha256(printed).hexdigest()

    assert len({digest(seed) for seed in ("0", "1", "7")}) == 1
