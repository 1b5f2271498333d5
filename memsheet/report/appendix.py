"""The appendix: every equation that a figure of the report goes through, chapter by chapter, with symbols.

Where an option decides, the branch that this scenario takes is printed: what was computed, and half the length.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import sympy
from markupsafe import Markup

from .. import nodes
from ..model import Cell
from ..quantity import Quantity
from .reading import Reading
from .taken import taken


@dataclass(frozen=True)
class Equation:
    """A row of formulas; several right sides where roles, stages or instants differ, each with the places it is for.

    `source` is a number: the place of the source in the list of the chapter, from 1.
    """

    label: str
    symbol: Markup
    sides: tuple[tuple[Markup, str], ...]
    unit: str
    source: int


@dataclass(frozen=True)
class Chapter:
    """`inputs` are the symbols of what the chapter is given, with their labels; `nothing` are the rows that are 0 here."""

    title: str
    inputs: tuple[tuple[Markup, str], ...]
    equations: tuple[Equation, ...]
    nothing: tuple[tuple[Markup, str], ...]
    sources: tuple[str, ...]


def chapters(reading: Reading) -> list[Chapter]:
    """The chapters of which the scenario uses anything."""
    model = reading.scenario.model
    used = {row: [model.cells[key] for key in keys] for row, keys in reading.rows.items()}
    found = []
    for name, title in model.declaration.chapters.items():
        rows = [row for row in model.declaration.rows.values() if row.chapter == name and row.name in used and not row.severity]
        sides = {row.name: _sides(reading, used[row.name]) for row in rows if not row.is_given}
        zero = {row for row, some in sides.items() if set(some) == {sympy.Integer(0)}}
        inputs = _symbols(reading, (row for row in rows if row.is_given and row.tex))
        calculated = [row for row in rows if row.name in sides.keys() - zero]
        sources = list(dict.fromkeys(row.source for row in calculated))
        equations = tuple(_equation(reading, row, sides[row.name], sources.index(row.source) + 1) for row in calculated)
        nothing = _symbols(reading, (row for row in rows if row.name in zero))
        if inputs or equations or nothing:
            found.append(Chapter(reading.language.chapter(name, title), inputs, equations, nothing, tuple(sources)))
    return found


def _symbols(reading: Reading, rows: Iterable[Quantity]) -> tuple[tuple[Markup, str], ...]:
    return tuple((Markup(reading.printer.names.symbol(row)), reading.language.label(row)) for row in rows)


def _sides(reading: Reading, cells: list[Cell]) -> dict[sympy.Basic, list[Cell]]:
    """The different right sides of a row, in the form that counts, with the cells that have them."""
    found: dict[sympy.Basic, list[Cell]] = {}
    for cell in cells:
        if cell.expression is not None and cell.expression != cell.quantity.symbol and not isinstance(cell.expression, nodes.Lookup):
            side = taken(cell, reading.scenario.values).expression
            found.setdefault(side, []).append(replace(cell, expression=side))
    return found


def _equation(reading: Reading, row: Quantity, sides: dict[sympy.Basic, list[Cell]], source: int) -> Equation:
    unit = row.unit.name
    keys = {side: [cell.key for cell in cells] for side, cells in sides.items()}
    found = []
    for side, cells in sides.items():
        others = [key for other, some in keys.items() if other != side for key in some]
        found.append((Markup(reading.printer.symbols(cells[0])), reading.whose(keys[side], others)))
    return Equation(
        reading.language.label(row),
        Markup(reading.printer.names.symbol(row)),
        tuple(found),
        reading.language.word(unit) if unit not in ("byte", "1", "words") else "",
        source,
    )
