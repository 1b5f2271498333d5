"""The appendix: every equation that a figure of the report goes through, chapter by chapter, with symbols."""

from collections.abc import Iterator
from dataclasses import dataclass

import sympy
from markupsafe import Markup, escape

from ..declare import STAGES, Quantity
from ..model import Cell, Key
from .reading import Reading


@dataclass(frozen=True)
class Equation:
    """A row of formulas: one right side, or one a stage; `emptied` is what holds where the cache was emptied."""

    label: str
    symbol: Markup
    sides: tuple[Markup, ...]
    unit: str
    source: str


@dataclass(frozen=True)
class Chapter:
    """`inputs` are the symbols of what the chapter is given, with their labels."""

    title: str
    inputs: tuple[tuple[Markup, str], ...]
    equations: tuple[Equation, ...]


def chapters(reading: Reading) -> list[Chapter]:
    """The chapters of which the scenario uses anything."""
    model = reading.scenario.model
    used = {key.row for key in model.cells}
    found = []
    for name, title in model.declaration.chapters.items():
        rows = [row for row in model.declaration.rows.values() if row.chapter == name and row.name in used and not row.severity]
        inputs = [row for row in rows if row.is_given and row.tex]
        symbols = tuple((Markup(reading.printer.names.symbol(row)), reading.language.label(row)) for row in inputs)
        equations = tuple(_equation(reading, row) for row in rows if not row.is_given)
        if symbols or equations:
            found.append(Chapter(reading.language.chapter(name, title), symbols, equations))
    return found


def _equation(reading: Reading, row: Quantity) -> Equation:
    unit = row.unit.name
    return Equation(
        reading.language.label(row),
        Markup(reading.printer.names.symbol(row)),
        tuple(_sides(reading, row)),
        reading.language.word(unit) if unit not in ("byte", "1", "words") else "",
        row.source,
    )


def _sides(reading: Reading, row: Quantity) -> Iterator[Markup]:
    """What stands to the right of the equals sign."""

    def side(expression: sympy.Basic, when: str = "") -> Markup:
        text = Markup(reading.printer.symbols(Cell(Key(row.name), row, expression)))
        return text + Markup("\u2003") + escape(when) if when else text

    if row.stages is not None:
        if reading.scenario.model.layout.staged_pools:
            for stage in STAGES:
                yield side(row.stages[stage], reading.stage(stage))
        else:
            yield side(row.stages[""])
    elif row.previous is not None and row.emptied is not None:
        yield side(sympy.Max(row.expression, row.previous, evaluate=False))
        yield side(row.emptied, reading.text("emptied"))
    else:
        assert row.expression is not None
        yield side(row.expression)
