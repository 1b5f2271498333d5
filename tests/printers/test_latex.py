r"""Formulas as LaTeX: symbols where a quantity has one, `\text{…}` where not; brackets, braces and environments in pairs."""

import re

import pytest
import sympy

from memsheet import scenario, terminal
from memsheet.declare import TABLE, Quantity, at, choose, components, every, given, highest, is_word, of, when
from memsheet.model import Cell
from memsheet.nodes import AtHighest, Highest, NameOfHighest, Total
from memsheet.printers.latex import Latex, numbers, symbol, symbols, text
from memsheet.units import count, words


def made(name: str, tex: str = "", choices: tuple[str, ...] = ()) -> sympy.Symbol:
    found = sympy.Dummy(name, real=True)
    TABLE[found] = Quantity(found, name, words if choices else count, "test", "scenario", name=name, tex=tex, choices=choices)
    return found


a, b, weights, plain = made("a", "a"), made("b", "b"), made("c_weights", "M_w"), made("d_plain_name")
method = made("method", choices=("full", "p_tuning", "frozen"))
timed = given("Device", tex="D", per="card")
TABLE[timed].timed, TABLE[timed].name = True, "device"
total = given("Total", tex="T^{*}", per="role")
TABLE[total].name = "total"

EQUATIONS = [
    (a * weights / (b * plain), r"\frac{a \cdot M_w}{b \cdot \text{d plain name}}"),
    ((a + b) / weights, r"\frac{a + b}{M_w}"),
    ((a + b) * weights, r"\left(a + b\right) \cdot M_w"),
    (a - b, "a - b"),
    (-a * b / weights, r"-\frac{a \cdot b}{M_w}"),
    (1 / a, r"\frac{1}{a}"),
    (a**-2, r"\frac{1}{{a}^{2}}"),
    (weights**2, "{M_w}^{2}"),
    ((a + b) ** 2, r"{\left(a + b\right)}^{2}"),
    (a + sympy.Rational(2, 3), r"\frac{2}{3} + a"),
    (sympy.Rational(2, 3) * a, r"\frac{2 \cdot a}{3}"),
    (1e-9 * a, r"1 \cdot 10^{-9} \cdot a"),
    (sympy.ceiling(a / b), r"\left\lceil \frac{a}{b} \right\rceil"),
    (sympy.floor(a), r"\left\lfloor a \right\rfloor"),
    (highest(a, b), r"\max\left(a, b\right)"),
    (choose(method, full=a, p_tuning=b, frozen=0),
     r"\begin{cases} a & \text{if } \text{method} = \text{full} \\ b & \text{if } \text{method} = \text{p\_tuning} \\ 0 & \text{otherwise}"
     r" \end{cases}"),
    (a * when(b > 1, 1, 2), r"a \cdot \left(\begin{cases} 1 & \text{if } b > 1 \\ 2 & \text{otherwise} \end{cases}\right)"),
    (when(is_word(method, "full", "frozen") & (a >= b), 1, 2),
     r"\begin{cases} 1 & \text{if } a \ge b \land \left(\text{method} \in \{\text{full}, \text{frozen}\}\right) \\ 2 & "
     r"\text{otherwise} \end{cases}"),
    (of("rollout", weights) + weights, r"M_w + M_w^{\text{rollout}}"),
    (of("rollout", total), r"{T^{*}}^{\text{rollout}}"),
    (at("engine_load", timed), r"D^{\text{engine load}}"),
    (Total(components("process")), r"\sum \text{components}"),
    (Total(every("role", total)) * a, r"a \cdot \left(\sum_{\text{roles}} T^{*}\right)"),
    (Highest(every("instant", timed)), r"\max_{\text{instants}} D"),
    (NameOfHighest(every("instant", timed)), r"\operatorname{arg\,max}_{\text{instants}} D"),
    (AtHighest(every("instant", timed), every("instant", timed)),
     r"{D}_{\text{instants}} \text{ at } \operatorname{arg\,max}_{\text{instants}} D"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "equation"), EQUATIONS)
def test_equations(expression, equation, cell_of):
    assert Latex().text(cell_of(expression), symbols) == equation
    check(equation)


def check(equation: str) -> None:
    """Braces, \\left and \\right, \\begin and \\end in pairs; no two subscripts or superscripts on one symbol."""
    bare = re.sub(r"\\[{}$&#_%]", "", equation)
    depth = 0
    for letter in bare:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        assert depth >= 0, equation
    assert depth == 0, equation
    for opening, closing in ((r"\left", r"\right"), (r"\begin{cases}", r"\end{cases}")):
        assert bare.count(opening) == bare.count(closing), equation
    group = r"(?:\{(?:[^{}]|\{[^{}]*\})*\}|\w)"
    assert not re.search(rf"_{group}_|\^{group}\^", bare), equation
    outside = re.sub(r"\\text\{[^{}]*\}|\\operatorname\{[^{}]*\}|\\(?:begin|end)\{cases\}|\\[a-z]+|_\{[a-z,]+\}", "", bare)
    assert not re.search(r"[A-Za-z]{4,}", outside), f"a word in italics: {equation}"


def test_the_check_can_fail():
    for wrong in ("{a", "a}", r"\left(a", "M_w_x", "x^{2}^{3}", "weights + 1"):
        with pytest.raises(AssertionError):
            check(wrong)


@pytest.mark.parametrize(
    ("words", "escaped"), [("p_tuning", r"p\_tuning"), ("50 %", r"50 \%"), ("a{b}", r"a\{b\}"), ("$x\\", r"\$x\textbackslash{}")]
)
def test_words_are_escaped(words, escaped):
    assert text(words) == rf"\text{{{escaped}}}"


@pytest.fixture(scope="module")
def loaded():
    return scenario.load("h200-ppo-lora")


def test_every_cell_prints_with_symbols_and_with_numbers(loaded):
    printer, fill = Latex(), numbers(loaded.model, loaded.values, terminal.value_text)
    for cell in loaded.model.cells.values():
        if cell.expression is not None:
            check(symbol(cell.quantity))
            check(printer.text(cell, symbols))
            check(printer.text(cell, fill))


def numbered(loaded, name: str, **changed: float) -> str:
    cell: Cell = next(cell for key, cell in loaded.model.cells.items() if str(key) == name)
    values = loaded.values | {key: changed[key.row] for key in cell.reads() if key.row in changed}
    return Latex().text(cell, numbers(loaded.model, values, terminal.value_text))


def test_numbers_have_upright_units(loaded):
    assert numbered(loaded, "weights [actor]") == r"\frac{6{,}738{,}415{,}616 \cdot 2\,\text{B}}{1}"
    assert numbered(loaded, "usable_memory [main]") == r"\left(1 - 10\,\text{\%}\right) \cdot 139.80\,\text{GiB}"
    assert numbered(loaded, "headroom [main]", peak=-(2**30)) == r"139.80\,\text{GiB} - \left(-1.00\,\text{GiB}\right)"


def test_sums_and_maxima_of_ranges_are_written_out(loaded):
    assert numbered(loaded, "allocated [trainer @ load]").startswith(r"12.55\,\text{GiB} + ")
    assert numbered(loaded, "peak [main]").startswith(r"\max\left(")
    assert r"\text{Weights, actor}" in numbered(loaded, "peak_component [main]")
