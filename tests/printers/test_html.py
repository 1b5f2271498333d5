"""HTML equations: what a reader sees, and what is refused."""

import re
from html import unescape

import pytest
import sympy

from memsheet import nodes, scenario
from memsheet.model import Cell, Key
from memsheet.printers.base import PrintError
from memsheet.printers.fillers import WORDS, Names, tex
from memsheet.printers.html import Html
from memsheet.quantity import TABLE, Quantity, Reference
from memsheet.units import byte, count, share, words


def row(name, unit=count, *, tex="", choices=()):
    made = sympy.Dummy(name, real=True)
    TABLE[made] = Quantity(made, name, unit, "test", "scenario", name=name, tex=tex, choices=choices)
    return made


a, b, c = (row(name, tex=name) for name in "abc")
size = row("size", byte, tex="M_w")
part = row("part", share, tex="u")
method = row("method", words, choices=("full", "lora", "frozen"))
spelled = row("virtual_tokens")


def cell_of(expression, choices=()):
    quantity = Quantity(sympy.Dummy("q"), "A row", count, "test", "scenario", expression=expression, name="row", choices=choices)
    return Cell(Key("row"), quantity, expression, {symbol: Key(symbol.name) for symbol in expression.free_symbols})


def symbols(expression, choices=()):
    """The equation as plain text: a fraction is {a over b}, cases stand between semicolons."""
    html = Html().symbols(cell_of(expression, choices))
    html = re.sub(r"</span><span>(?=[^<]*\u2003)", "; ", html.replace("<u>", "").replace("</u>", ""))
    html = re.sub(r'<span class="fraction"><span>(.*?)</span><span>(.*?)</span></span>', r"{\1 over \2}", html)
    return unescape(re.sub("<[^>]*>", "", html)).replace("\u2003", ", ").replace("\u2009·\u2009", "·")


def numbers(expression, **values):
    html = Html().numbers(cell_of(expression), {Key(name): value for name, value in values.items()})
    return unescape(re.sub("<[^>]*>", "", html)).replace("\u202f", " ")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("M", "M"),
        ("M_w", "M_w"),
        ("M_{w,0}", "M_w,0"),
        ("b_{16}", "b_16"),
        ("x^{2}", "x<sup>2</sup>"),
        (r"\mathrm{KV}", "<u>KV</u>"),
        (r"\hat{x}_i", "x\u0302_i"),
    ],
)
def test_a_symbol(text, html):
    assert tex(text) == html


@pytest.mark.parametrize("text", ["", r"\alpha", "M_", "M_{", "<b>", "M w", "M_{a b}", r"M_{\mathrm{x}}", r"\frac{a}{b}", "1"])
def test_what_is_no_symbol_is_refused(text):
    with pytest.raises(PrintError):
        tex(text)


def test_every_symbol_of_the_formulas_has_html():
    for quantity in scenario.declaration().rows.values():
        assert Names().symbol(quantity)


@pytest.mark.parametrize(
    ("expression", "either"),  # sympy orders sums and products as it likes
    [
        (a + 2 * b, ("a + 2·b", "2·b + a")),
        (a - b, ("a − b",)),
        (a * (b + c), ("a·(b + c)", "(b + c)·a", "a·(c + b)", "(c + b)·a")),
        (a * b / c, ("{a·b over c}", "{b·a over c}")),
        (a / (b + c), ("{a over b + c}", "{a over c + b}")),  # the line is bracket enough
        ((a + b) ** 2, ("(a + b)2", "(b + a)2")),
        (1 / a, ("{1 over a}",)),
        (-a * b, ("−a·b", "−b·a")),
        (a * sympy.Rational(1, 2), ("{a over 2}",)),
        (size * part, ("M_w·u", "u·M_w")),
        (spelled + 1, ("virtual tokens + 1", "1 + virtual tokens")),
        (sympy.Max(a, 1, evaluate=False), ("max(a, 1)", "max(1, a)")),
        (sympy.Piecewise((a, sympy.Eq(method, 1)), (b, True)), ("a, if method is lora; b, otherwise",)),
        (sympy.Piecewise((a, sympy.Ne(method, 1)), (b, True)), ("a, if method is not lora; b, otherwise",)),
        (
            sympy.Piecewise((a, sympy.Or(sympy.Eq(method, 0), sympy.Eq(method, 2))), (b, True)),
            ("a, if method is full or frozen; b, otherwise",),
        ),
        (
            sympy.Piecewise((a, sympy.And(sympy.Eq(method, 0), a < b)), (b, True)),
            ("a, if method is full and a < b; b, otherwise", "a, if a < b and method is full; b, otherwise"),
        ),
    ],
)
def test_an_equation_with_symbols(expression, either):
    assert symbols(expression) in either


def test_ceilings_and_floors_are_classes_of_the_style_sheet():
    assert Html().symbols(cell_of(sympy.ceiling(a / b))).startswith('<span class="ceiling"><span class="fraction">')
    assert Html().symbols(cell_of(sympy.floor(a / b))).startswith('<span class="floor">')


def test_the_result_of_a_decision_is_words():
    text = symbols(sympy.Piecewise((0, a < b), (1, True)), ("fits", "does not fit"))
    assert text == "fits, if a < b; does not fit, otherwise"


def test_numbers_have_units_and_options_are_words():
    assert numbers(size * a, size=2, a=6738415616) in ("2 B\u2009·\u20096 738 415 616", "6 738 415 616\u2009·\u20092 B")
    assert numbers(size + 0 * a, size=13476831232) == "12.55 GiB"
    assert numbers(part * 2, part=0.1) == "2\u2009·\u200910 %"
    assert numbers(a + b, a=-3, b=0) == "(−3) + 0"
    assert "lora is lora" in numbers(sympy.Piecewise((a, sympy.Eq(method, 1)), (b, True)), method=1, a=1, b=2)


def test_ranges_are_sums_and_maxima():
    """Over the cells of a real scenario: several processes on a card, and instants."""
    loaded = scenario.load("seed-3-large")
    model, values, printer = loaded.model, loaded.values, Html()
    card = model.layout.cards[0]
    peak = next(key for key in model.headline("peak") if key.column == card)
    assert printer.symbols(model.cells[peak]) == "<u>max</u><sub>instants</sub> D_0"
    assert printer.numbers(model.cells[peak], values).count("GiB") == len(model.layout.instants)
    instant = next(iter(model.cells[peak].reads()))
    assert printer.symbols(model.cells[instant]) == "∑<sub>processes</sub> D_p,0"
    assert printer.numbers(model.cells[instant], values).count(" + ") == 1


def test_a_sum_in_a_product_is_bracketed():
    target = row("cells", byte, tex="m")
    cells = sympy.Dummy("range", real=True)
    TABLE[cells] = Reference(target, every="process", per="card")
    expression = a * nodes.Total(cells)
    cell = Cell(Key("row"), Quantity(sympy.Dummy("q"), "r", count, "t", "card"), expression, {a: Key("a"), cells: (Key("x"), Key("y"))})
    text = Html().numbers(cell, {Key("a"): 2, Key("x"): 1, Key("y"): 5})
    assert "(1\u202fB + 5\u202fB)" in text


def test_names_are_escaped():
    hostile = row("<script>alert(1)</script>")
    assert "<script>" not in Html().symbols(cell_of(hostile + 1))
    translated = Names(dict.fromkeys(WORDS, "<b>"), lambda quantity: "<i>", lambda word: "<s>")
    text = Html(translated).symbols(cell_of(sympy.Piecewise((spelled, sympy.Eq(method, 1)), (b, True))))
    assert "<b>" not in text and "<i>" not in text and "<s>" not in text


def test_every_cell_of_every_scenario_has_both_texts():
    printer = Html()
    for name in scenario.names():
        loaded = scenario.load(name)
        for cell in loaded.model.cells.values():
            if cell.expression is not None:
                assert printer.symbols(cell)
                assert printer.numbers(cell, loaded.values)
