"""The appendix: every equation that a figure of the report goes through, chapter by chapter, with symbols.

Where an option decides, the branch that this scenario takes is printed: what was computed, and half the length.
"""

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
    """A row of formulas; several right sides where roles, stages or instants differ, each with the places it is for."""

    label: str
    symbol: Markup
    sides: tuple[tuple[Markup, str], ...]
    unit: str
    source: str


@dataclass(frozen=True)
class Chapter:
    """`inputs` are the symbols of what the chapter is given, with their labels; `plain` are equations without a calculation."""

    title: str
    inputs: tuple[tuple[Markup, str], ...]
    equations: tuple[Equation, ...]
    plain: tuple[Equation, ...]


def chapters(reading: Reading) -> list[Chapter]:
    """The chapters of which the scenario uses anything."""
    model = reading.scenario.model
    used = {row: [model.cells[key] for key in keys] for row, keys in reading.rows.items()}
    found = []
    for name, title in model.declaration.chapters.items():
        rows = [row for row in model.declaration.rows.values() if row.chapter == name and row.name in used and not row.severity]
        inputs = tuple(
            (Markup(reading.printer.names.symbol(row)), reading.language.label(row)) for row in rows if row.is_given and row.tex
        )
        sides = {row.name: _sides(reading, used[row.name]) for row in rows if not row.is_given}
        plain = {row for row, some in sides.items() if not any(side.args for side in some)}
        equations = {row.name: _equation(reading, row, sides[row.name]) for row in rows if row.name in sides}
        if inputs or equations:
            found.append(
                Chapter(
                    reading.language.chapter(name, title),
                    inputs,
                    tuple(equation for row, equation in equations.items() if row not in plain),
                    tuple(equation for row, equation in equations.items() if row in plain),
                )
            )
    return found


def _sides(reading: Reading, cells: list[Cell]) -> dict[sympy.Basic, list[Cell]]:
    """The different right sides of a row, in the form that counts, with the cells that have them."""
    found: dict[sympy.Basic, list[Cell]] = {}
    for cell in cells:
        if cell.expression is not None and cell.expression != cell.quantity.symbol and not isinstance(cell.expression, nodes.Lookup):
            side = taken(cell, reading.scenario.values).expression
            found.setdefault(side, []).append(replace(cell, expression=side))
    return found


def _equation(reading: Reading, row: Quantity, sides: dict[sympy.Basic, list[Cell]]) -> Equation:
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
        row.source,
    )
