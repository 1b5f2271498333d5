"""Why a number is what it is: the formula, its numbers, its parts, which branch or term won, and where it comes from."""

import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sympy

from . import evaluate, nodes, terminal
from .model import Cell, Column, Key, Model
from .printers.base import lookup_number
from .printers.words import Words, name_of, names, numbers, reference
from .quantity import LOOKUPS, Quantity, unit_of
from .scenario import Scenario
from .selector import select, selector_of
from .units import byte, count, dimension
from .values import shown

WIDTH = 110


@dataclass(frozen=True)
class Part:
    """A cell that the explained one reads. `selector` is what to ask for to explain it in turn; `won` says that it decided
    a maximum or a minimum.
    """

    name: str
    column: str
    label: str
    value: Any
    text: str
    selector: str
    won: bool


@dataclass(frozen=True)
class Decision:
    """Where a formula could have gone two ways. `kind` is "branch", "largest" or "smallest".

    `taken` is the condition that held or the term that won, `result` the branch's formula, `text` its value; `others`
    are the terms that lost, with their values (a range has none: its cells are parts). `depth` counts the decisions
    above it in the same formula.
    """

    kind: str
    taken: str
    result: str
    text: str
    others: tuple[tuple[str, str], ...] = ()
    depth: int = 0


@dataclass(frozen=True)
class Explanation:
    """One cell, explained. `value` is in `unit` (bytes are bytes, words are words), `text` as a reader sees it.

    `formula` and `numbers` are empty for an input; `origin` says where an input's value comes from, else it is empty.
    """

    quantity: str
    column: dict[str, str]
    selector: str
    label: str
    unit: str
    value: Any
    text: str
    formula: str
    numbers: str
    decisions: tuple[Decision, ...]
    parts: tuple[Part, ...]
    origin: str
    source: str
    note: str
    declared: str
    key: Key = field(repr=False)


def explain(scenario: Scenario, selector: str) -> list[Explanation]:
    """Explain the cells that a selector means: a row, all its columns unless narrowed: "gradients@critic", "allocated@update".

    Raises InputError for a quantity or a column that this scenario does not have.
    """
    return [_Explainer(scenario, key).run() for key in select(scenario, selector)]


class _Explainer:
    def __init__(self, scenario: Scenario, key: Key) -> None:
        self.scenario, self.model, self.values = scenario, scenario.model, scenario.values
        self.cell = self.model.cells[key]
        self.printer = Words()
        self.numbers = numbers(self.model, self.values, terminal.value_text)
        self.won: set[Key] = set()

    def run(self) -> Explanation:
        decisions = tuple(self.decisions(self.cell.expression)) if self.cell.expression is not None else ()
        cell, quantity, value = self.cell, self.cell.quantity, self.values[self.cell.key]
        known = cell.expression is not None
        return Explanation(
            quantity=quantity.name, column=dict(zip(Column._fields, cell.key.column, strict=True)), selector=selector_of(cell.key),
            label=quantity.label, unit=quantity.unit.name, value=shown(quantity, value), text=terminal.value_text(quantity, value),
            formula=self.printer.text(cell, names) if known else "", numbers=self.printer.text(cell, self.numbers) if known else "",
            decisions=decisions, parts=tuple(self.parts()),
            origin=self.origin(), source=quantity.source, note=quantity.note, declared=_declared(quantity), key=cell.key,
        )  # fmt: skip

    def origin(self) -> str:
        """Where an input's value comes from."""
        cell = self.cell
        if isinstance(cell.expression, nodes.Lookup):
            catalogue, _ = LOOKUPS[lookup_number(cell.expression)]
            option = cell.refs[cell.expression.args[0]]
            assert isinstance(option, Key)
            word = str(shown(self.model.cells[option].quantity, self.values[option]))
            return f"catalogue {catalogue.name}, row {word} ({catalogue.labels[word]}): {catalogue.sources[word]}"
        if cell.expression is not None:
            return ""
        return f"stated in {place}" if (place := self.scenario.places.get(cell.key)) else "default"

    def parts(self) -> Iterator[Part]:
        won = set(map(self.held, self.won))
        for key in dict.fromkeys(map(self.held, self.cell.reads())):
            quantity, value = self.model.cells[key].quantity, self.values[key]
            yield Part(
                name_of(quantity), str(key.column), quantity.label, shown(quantity, value),
                terminal.value_text(quantity, value), selector_of(key), key in won,
            )  # fmt: skip

    def held(self, key: Key) -> Key:
        """The cell behind a copy, such as what a role holds at an instant."""
        while (cell := self.model.cells[key]).expression is cell.quantity.symbol:
            target = cell.refs[cell.quantity.symbol]
            assert isinstance(target, Key)
            key = target
        return key

    def decisions(self, node: sympy.Basic, depth: int = 0) -> Iterator[Decision]:
        """The decisions of a formula, following what was taken and nothing else."""
        if isinstance(node, sympy.Piecewise):
            taken = next(pair for pair in node.args if pair.cond is sympy.true or self.value(pair.cond))
            condition = "otherwise" if taken.cond is sympy.true else self.words(taken.cond)
            yield Decision("branch", condition, self.words(taken.expr), self.text(taken.expr), depth=depth)
            yield from self.decisions(taken.expr, depth + 1)
        elif isinstance(node, (sympy.Max, sympy.Min)):
            kind = "largest" if isinstance(node, sympy.Max) else "smallest"
            best, *others = sorted(node.args, key=self.value, reverse=kind == "largest")
            lost = tuple((self.words(term), self.text(term)) for term in others)
            yield Decision(kind, self.words(best), self.words(best), self.text(best), lost, depth)
            inner = list(self.decisions(best, depth + 1))
            if not inner:
                self.won.update(self.part(best).reads())
            yield from inner
        elif isinstance(node, (nodes.Highest, nodes.AtHighest, nodes.NameOfHighest)):
            yield self.highest(node.args[0], depth)
        else:
            for part in node.args:
                yield from self.decisions(part, depth)

    def highest(self, cells: sympy.Symbol, depth: int) -> Decision:
        target = self.cell.refs[cells]
        assert not isinstance(target, Key)
        best = max(target, key=self.values.__getitem__)
        self.won.add(best)
        name = reference(best, self.cell.key)
        return Decision("largest", name, name, terminal.value_text(self.model.cells[best].quantity, self.values[best]), (), depth)

    def part(self, node: sympy.Basic) -> Cell:
        """A piece of the formula as a cell of its own."""
        refs = {symbol: self.cell.refs[symbol] for symbol in node.free_symbols}
        return Cell(Key("", self.cell.key.column), self.cell.quantity, node, refs, self.cell.labels)

    def words(self, node: sympy.Basic) -> str:
        return self.printer.text(self.part(node), names)

    def value(self, node: sympy.Basic) -> Any:
        """What a piece of the formula comes to, by the same printer as the cell's own value."""
        part = self.part(node)
        inputs = {key: Cell(key, self.model.cells[key].quantity) for key in part.reads()}
        model = Model(self.model.declaration, self.model.layout, inputs | {part.key: part})
        return evaluate.scalar(model, [part.key])(self.values)[part.key]

    def text(self, node: sympy.Basic) -> str:
        quantity = self.cell.quantity
        if quantity.choices:
            return terminal.value_text(quantity, self.value(node))
        power = dimension(node, unit_of)  # None for a literal 0, which is 0 of anything
        own = power in (None, quantity.unit.power)
        return terminal.figure(self.value(node), quantity.unit if own else byte if power == 1 else count)


def _declared(quantity: Quantity) -> str:
    """The formula file and line, such as `formulas/states.py:88`."""
    file, _, line = quantity.where.rpartition(":")
    return f"{Path(file).parent.name}/{Path(file).name}:{line}"


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """An explanation for --json; sizes are bytes."""
    found = asdict(explanation)
    del found["key"]
    return found


def render(explanation: Explanation, *, colour: bool) -> str:
    """An explanation as a reader sees it in a terminal."""
    place = str(explanation.key.column)
    title = terminal.printable(explanation.quantity + (f" @ {place}" if place else ""))
    lines = [terminal.paint(title, "bold", colour) + f": {explanation.label}", f"  = {_exact(explanation)}"]
    lines += [_wrapped(text, "  = ") for text in (explanation.formula, explanation.numbers) if text]
    for decision in explanation.decisions:
        lines.append(_wrapped(_decided(decision), "  " + "  " * decision.depth + "> "))
    for name in ("origin", "source", "note"):
        if text := getattr(explanation, name):
            lines.append(_wrapped(text, f"  {name}: "))
    lines.append(f"  declared in {explanation.declared}")
    if explanation.parts:
        rows = [[("> " if part.won else "  ") + part.selector, part.text, part.label] for part in explanation.parts]
        lines += ["", terminal.table(rows, ["  explain next", "value", "what it is"], "lrl")]
    return "\n".join(lines)


def _decided(decision: Decision) -> str:
    if decision.kind == "branch":
        value = "" if decision.result.strip('"') == decision.text else f" = {decision.text}"
        return f"{decision.taken}: {decision.result}{value}"
    others = "; ".join(f"{words} = {text}" for words, text in decision.others)
    return f"{decision.kind}: {decision.taken} = {decision.text}" + (f" (before {others})" if others else "")


def _exact(explanation: Explanation) -> str:
    """The value; of a size also the bytes."""
    if explanation.unit != byte.name or explanation.text.endswith(" B"):
        return explanation.text
    return f"{explanation.text} ({explanation.value:,.0f} bytes)"


def _wrapped(text: str, start: str) -> str:
    return textwrap.fill(terminal.printable(text), WIDTH, initial_indent=start, subsequent_indent=" " * len(start), break_long_words=False)
