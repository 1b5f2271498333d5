"""Random formulas mean the same in sympy, in Python (exactly, with fractions) and in two spreadsheet engines."""

import math
from fractions import Fraction

import formualizer
import ironcalc
import pytest
import sympy
from hypothesis import HealthCheck, assume, example, given, reject, settings
from hypothesis import strategies as st

from memsheet import evaluate
from memsheet.model import Cell, Key, Model
from memsheet.printers.excel import Excel
from memsheet.quantity import TABLE, Quantity
from memsheet.units import count


def symbol(name: str) -> sympy.Symbol:
    made = sympy.Dummy(name, real=True)
    TABLE[made] = Quantity(made, name, count, "test", "scenario", name=name)
    return made


SYMBOLS = tuple(map(symbol, ("p", "q", "r", "s")))
ADDRESSES = {symbol: f"{column}1" for symbol, column in zip(SYMBOLS, "ABCD", strict=True)}
VALUES = st.fractions(-9, 9, max_denominator=8)


@st.composite
def conditions(draw) -> sympy.Basic:
    left, right = draw(formulas(0)), draw(formulas(0))
    one = draw(st.sampled_from((left < right, left >= right, sympy.Eq(left, right), sympy.Ne(left, right))))
    shape = draw(st.sampled_from(("one", "and", "or", "not")))
    if shape == "not":  # of one comparison sympy would make the opposite
        return sympy.Not(sympy.Or(one, draw(conditions())))
    return one if shape == "one" else (sympy.And if shape == "and" else sympy.Or)(one, draw(conditions()))


@st.composite
def formulas(draw, depth: int = 4, literals: bool = True) -> sympy.Expr:
    """Formulas as sympy tidies them up, and as they were written."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        literal = literals and not draw(st.integers(0, 2))
        return sympy.Integer(draw(st.integers(-3, 5))) if literal else draw(st.sampled_from(SYMBOLS))
    first = draw(formulas(depth - 1, literals))
    tidy = draw(st.booleans()) or first.is_number  # sympy stumbles over 1/0 left as written

    def second() -> sympy.Expr:
        return draw(formulas(depth - 1, literals))

    match draw(st.sampled_from(["+", "-", "*", "/", "power", "max", "min", "floor", "ceiling", "cases"])):
        case "+":
            return sympy.Add(first, second(), evaluate=tidy)
        case "-":
            return sympy.Add(first, sympy.Mul(-1, second(), evaluate=tidy), evaluate=tidy)
        case "*":
            return sympy.Mul(first, second(), evaluate=tidy)
        case "/":
            below = second()
            return first if below.is_number else sympy.Mul(first, sympy.Pow(below, -1, evaluate=tidy), evaluate=tidy)
        case "power":
            return sympy.Pow(first, draw(st.sampled_from((2, 3) if first.is_number else (-2, 2, 3))), evaluate=tidy)
        case "max":
            return sympy.Max(first, second(), evaluate=False)
        case "min":
            return sympy.Min(first, second(), evaluate=False)
        case ("floor" | "ceiling") as rounding:
            return getattr(sympy, rounding)(first)
    return sympy.Piecewise((first, draw(conditions())), (second(), True))


numbers_of_symbols = st.tuples(*[VALUES] * len(SYMBOLS))
given_a_formula = given(formula=formulas(), numbers=numbers_of_symbols)
quick = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def exact(formula: sympy.Basic, numbers: tuple[Fraction, ...]) -> Fraction:
    """What sympy says; formulas without a finite value are skipped."""
    assume(not formula.has(sympy.zoo, sympy.nan, sympy.oo) and not formula.atoms(sympy.Rational) - formula.atoms(sympy.Integer))
    try:
        found = formula.xreplace({symbol: sympy.Rational(value) for symbol, value in zip(SYMBOLS, numbers, strict=True)}).doit()
    except (TypeError, ValueError, ZeroDivisionError):  # sympy compares no infinity
        reject()
    assume(found.is_Rational and abs(found) < 10**9)
    return Fraction(int(found.p), int(found.q))


def model_of(cell: Cell) -> Model:
    """A model of one formula and its inputs."""
    inputs = {Key(symbol.name): Cell(Key(symbol.name), TABLE[symbol]) for symbol in SYMBOLS}
    return Model(None, None, inputs | {cell.key: cell})


def python(formula: sympy.Basic, numbers, cell_of):
    return evaluate.scalar(model_of(cell_of(formula)))(dict(zip(map(Key, "pqrs"), numbers, strict=True)))[Key("row")]


p, q, r, _ = SYMBOLS
hard = (Fraction(-5, 2), Fraction(3), Fraction(7, 4), Fraction(0))


# Without literals: one of them divided by another would be a float, and no fraction.
@given(formula=formulas(literals=False), numbers=numbers_of_symbols)
@quick
@example(formula=-(p**2), numbers=hard)
@example(formula=p - (q - r), numbers=hard)
@example(formula=sympy.Pow(sympy.Pow(p, 2, evaluate=False), -1, evaluate=False), numbers=hard)
@example(formula=sympy.Mul(q, sympy.Pow(sympy.Mul(p + q, r, evaluate=False), -1, evaluate=False), evaluate=False), numbers=hard)
@example(formula=sympy.Mul(r, sympy.Integer(-2), p - q, evaluate=False), numbers=hard)
def test_python_is_exact_with_fractions(formula, numbers, cell_of):
    expected = exact(formula, numbers)
    try:
        found = python(formula, numbers, cell_of)
    except ZeroDivisionError:  # sympy leaves out what is multiplied by nothing
        reject()
    assert found == expected


@given_a_formula
@quick
def test_numpy_agrees(formula, numbers, cell_of):
    numpy = pytest.importorskip("numpy")
    expected = float(exact(formula, numbers))
    assume(steady(formula, numbers, cell_of, expected))
    function = evaluate.arrays(model_of(cell_of(formula)), [Key("row")])
    with numpy.errstate(all="ignore"):  # both branches of a Piecewise are computed
        found = function({Key(name): numpy.array([float(number)] * 2) for name, number in zip("pqrs", numbers, strict=True)})
    assert numpy.broadcast_to(found[Key("row")], 2) == pytest.approx([expected] * 2, rel=1e-9, abs=1e-9)


def steady(formula, numbers, cell_of, expected: float) -> bool:
    """Whether floats are as good as fractions here: not at the edge of a rounding or a comparison."""
    try:
        return math.isclose(python(formula, [float(n) for n in numbers], cell_of), expected, rel_tol=1e-11, abs_tol=1e-11)
    except (ZeroDivisionError, OverflowError):
        return False


@pytest.fixture(scope="module")
def engines():
    """Two spreadsheet programs: functions of a formula and the numbers in A1 to D1."""
    book, model = formualizer.Workbook(), ironcalc.create("formulas", "en", "UTC")
    book.add_sheet("Sheet")

    def first(text: str, numbers) -> object:
        for column, number in enumerate(numbers, 1):
            book.set_value("Sheet", 1, column, formualizer.LiteralValue.number(float(number)))
        book.set_formula("Sheet", 2, 1, "=" + text)
        book.evaluate_all()
        return book.get_value("Sheet", 2, 1)

    def second(text: str, numbers) -> object:
        for column, number in enumerate(numbers, 1):
            model.update_cell_with_number(0, 1, column, float(number))
        model.set_user_input(0, 2, 1, "=" + text)
        model.evaluate()
        return model.get_cell_value(0, 2, 1)

    return {"formualizer": first, "ironcalc": second}


@given_a_formula
@quick
@example(formula=-(p**2), numbers=hard)
@example(formula=sympy.Mul(-1, sympy.Mul(q, p**2, evaluate=False), evaluate=False), numbers=hard)
@example(formula=sympy.Piecewise((p, q > 2), (r, True)) / (p - q), numbers=hard)
def test_spreadsheets_agree(engines, formula, numbers, cell_of):
    expected = float(exact(formula, numbers))
    assume(steady(formula, numbers, cell_of, expected))
    text = Excel().text(cell_of(formula), lambda slot, cell: ADDRESSES[slot.subject])
    for name, calculate in engines.items():
        found = calculate(text, numbers)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9), f"{name}: {text}"
