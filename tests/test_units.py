"""The dimension check: bytes are never added to, compared with or chosen instead of a count."""

import pytest
import sympy

from memsheet import nodes
from memsheet.units import UnitError, byte, count, dimension

size, other_size = sympy.symbols("size other_size", real=True)
ranks, layers = sympy.symbols("ranks layers", real=True)
UNITS = {size: byte, other_size: byte, ranks: count, layers: count}


def of(expression: sympy.Basic) -> int | None:
    return dimension(expression, UNITS.__getitem__)


@pytest.mark.parametrize(
    ("expression", "power"),
    [
        (size, 1),
        (ranks, 0),
        (sympy.Integer(7), 0),
        (sympy.Integer(0), None),
        (size * layers / ranks, 1),
        (size / other_size, 0),
        (size * other_size, 2),
        (size**2, 2),
        (ranks**layers, 0),
        (sympy.sqrt(ranks), 0),
        (size + 3 * other_size, 1),
        (sympy.Max(size, other_size), 1),
        (sympy.Max(0, size), 1),
        (sympy.Min(size, other_size, evaluate=False), 1),
        (sympy.ceiling(ranks / layers), 0),
        (layers * sympy.floor(size / other_size), 0),
        (sympy.Piecewise((size, ranks > 1), (0, True)), 1),
        (sympy.Piecewise((size, size > other_size), (other_size, True)), 1),
        (nodes.Total(size), 1),
        (nodes.Highest(size), 1),
        (nodes.AtHighest(ranks, size), 1),
        (nodes.NameOfHighest(size), 0),
        (sympy.And(ranks > 1, size > other_size), 0),
    ],
)  # fmt: skip
def test_the_power_of_a_byte_works_out(expression, power):
    assert of(expression) == power


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (size + ranks, r"adds quantities of different dimensions: byte\^0 and byte\^1"),
        (size + 1, "adds"),
        (size * (size + ranks), "adds"),
        (size + size * other_size, r"byte\^1 and byte\^2"),
        (sympy.Max(size, ranks), "compares"),
        (sympy.Piecewise((size, True)) + ranks, "adds"),
        (sympy.Piecewise((size, ranks > 1), (layers, True)), "chooses between"),
        (sympy.Piecewise((layers, size > ranks), (ranks, True)), "compares"),
        (sympy.Piecewise((layers, sympy.And(ranks > 1, sympy.Not(size < 5))), (ranks, True)), "compares"),
        (sympy.ceiling(size), "rounds bytes: round a count, then multiply"),
        (sympy.floor(size / layers), "rounds bytes"),
        (sympy.sqrt(size), "raises bytes to a power that is not a whole number"),
        (size**ranks, "raises bytes to a power"),
        (sympy.sin(ranks), "no dimension rule for sin"),
        (sympy.Mod(ranks, 2), "no dimension rule for Mod"),
    ],
)  # fmt: skip
def test_what_mixes_dimensions_is_refused(expression, message):
    with pytest.raises(UnitError, match=message):
        of(expression)
