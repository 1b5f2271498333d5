"""The binding path: from the peak down to what it is made of, each equation with its numbers put in."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy
from markupsafe import Markup, escape

from .. import nodes
from ..figures import percent
from ..model import Cell, Key
from ..quantity import TABLE, Reference, quantity_of
from ..units import parameters
from .reading import Reading
from .taken import number, range_of, taken

#: What makes up less than this share of the peak is not followed.
SMALLEST_SHARE = 0.08
DEEPEST = 9
MOST_STEPS = 24


@dataclass(frozen=True)
class Step:
    """One equation. `share` is the part of the peak that goes through it, `remarks` say which options and terms decided."""

    label: str
    place: str
    symbol: Markup
    symbols: Markup
    numbers: Markup
    result: str
    share: str
    remarks: tuple[str, ...]
    where: tuple[tuple[Markup, str], ...]
    source: str
    depth: int


def steps(reading: Reading, start: Key) -> list[Step]:
    """The equations from `start` down, the largest parts first."""
    found: list[Step] = []
    seen: set[Key] = set()
    model, values = reading.scenario.model, reading.scenario.values

    def follow(key: Key, weight: float, depth: int) -> None:
        cell = model.cells[key]
        if key in seen or len(found) == MOST_STEPS or depth > DEEPEST:
            return
        seen.add(key)
        if cell.expression is None or isinstance(cell.expression, nodes.Lookup):
            return
        said = taken(cell, values)
        shown = replace(cell, expression=said.expression)
        parts: dict[Key, float] = {}
        for part, share in _parts(said.expression, shown, weight, reading):
            parts[part] = max(share, parts.get(part, 0))
        if said.expression.args:  # a cell that repeats another is no step
            found.append(_step(reading, shown, said.decided, weight, depth))
            depth += 1
        for part, share in sorted(parts.items(), key=lambda item: -item[1]):
            unit = model.cells[part].quantity.unit
            if share >= SMALLEST_SHARE and (unit.power or unit == parameters):  # widths and ranks are plain enough
                follow(part, share, depth)

    follow(start, 1.0, 0)
    return found


def _parts(node: sympy.Basic, cell: Cell, weight: float, reading: Reading) -> Iterator[tuple[Key, float]]:
    """The cells below a node, each with the share of the peak that goes through it."""
    values = reading.scenario.values
    if isinstance(node, sympy.Symbol):
        target = cell.refs[node]
        assert isinstance(target, Key)
        yield target, weight
    elif isinstance(node, nodes.Highest):
        yield reading.winner(range_of(cell, node.args[0])), weight
    elif isinstance(node, nodes.Total):
        whole = number(node, cell, values)
        for key in range_of(cell, node.args[0]):
            yield key, weight * values[key] / whole if whole else 0.0
    elif isinstance(node, (sympy.Max, sympy.Min)):
        choose = max if isinstance(node, sympy.Max) else min
        yield from _parts(choose(node.args, key=lambda part: number(part, cell, values)), cell, weight, reading)
    elif isinstance(node, sympy.Add):
        whole = number(node, cell, values)
        for term in node.args:
            yield from _parts(term, cell, weight * abs(number(term, cell, values) / whole) if whole else 0.0, reading)
    else:
        for part in node.args:
            yield from _parts(part, cell, weight, reading)


def _step(reading: Reading, cell: Cell, decided: tuple[Key, ...], weight: float, depth: int) -> Step:
    quantity, printer, values = cell.quantity, reading.printer, reading.scenario.values
    remarks: list[str] = [
        reading.text("decided", option=reading.language.label(model_cell.quantity), word=reading.value(key))
        for key in decided
        if (model_cell := reading.scenario.model.cells[key]).quantity.choices
    ]
    if winner := _winner(reading, cell):
        remarks.append(Markup(escape(reading.text("largest_term"))) + Markup(" " + winner))
    return Step(
        label=reading.language.label(quantity),
        place=reading.place(cell.key.column),
        symbol=Markup(printer.names.symbol(quantity)),
        symbols=Markup(printer.symbols(cell)),
        numbers=Markup(printer.numbers(cell, values)),
        result=reading.value(cell.key),
        share=percent(weight),
        remarks=tuple(remarks),
        where=tuple(_where(reading, cell)),
        source=quantity.source,
        depth=depth,
    )


def _winner(reading: Reading, cell: Cell) -> str:
    """What is largest where an equation takes the largest of several."""
    assert cell.expression is not None
    if isinstance(cell.expression, nodes.Highest):
        return str(escape(reading.named(reading.winner(range_of(cell, cell.expression.args[0])))))
    choices = list(cell.expression.atoms(sympy.Max))
    if len(choices) != 1:
        return ""
    term = max(choices[0].args, key=lambda part: number(part, cell, reading.scenario.values))
    return f"<i>{reading.printer.symbols(replace(cell, expression=term))}</i>"


def _where(reading: Reading, cell: Cell) -> Iterator[tuple[Markup, str]]:
    """The symbols of an equation and what they mean; of a sum of components, which is how large."""
    assert cell.expression is not None
    for symbol in sorted(cell.expression.free_symbols, key=lambda symbol: symbol.dummy_index):
        entry, target = TABLE[symbol], cell.refs[symbol]
        if isinstance(target, Key):
            if quantity_of(symbol).tex:
                yield Markup(f"<i>{reading.printer.names.symbol(quantity_of(symbol))}</i>"), reading.language.label(quantity_of(symbol))
        elif isinstance(entry, Reference) and entry.target is None:
            held = [key for key in range_of(cell, symbol) if reading.scenario.values[key]]
            for key in sorted(held, key=lambda key: -reading.scenario.values[key]):
                yield escape(reading.value(key)), reading.component(key)
