"""A cell around a bare expression, so that a printer can be asked for its text."""

from collections.abc import Callable

import pytest
import sympy

from memsheet.model import Cell, Key
from memsheet.quantity import Quantity
from memsheet.units import count


def _cell(expression: sympy.Basic, choices: tuple[str, ...] = ()) -> Cell:
    row = Quantity(sympy.Dummy("q"), "A row", count, "test", "scenario", expression=expression, name="row", choices=choices)
    return Cell(Key("row"), row, expression, {symbol: Key(symbol.name) for symbol in expression.free_symbols})


@pytest.fixture(scope="session")
def cell_of() -> Callable[..., Cell]:
    """Makes a cell of an expression; each of its symbols reads the cell of its own name."""
    return _cell
