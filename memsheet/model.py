"""Rows x columns x instants, lowered to cells: all that a printer, an evaluator or a workbook ever sees.

Only what the timeline and the headline need is lowered, so a scenario asks for no input that nothing reads.
"""

import graphlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import sympy

from . import nodes
from .quantity import LEVELS, STAGES, TABLE, Declaration, DeclarationError, Quantity, Reference


class Column(NamedTuple):
    """Where a cell stands. An empty field does not apply: the scenario's own column is Column()."""

    role: str = ""
    pool: str = ""
    process: str = ""
    stage: str = ""
    instant: str = ""

    def __str__(self) -> str:
        place = self.role or self.process or self.pool
        return " @ ".join(part for part in (place, self.stage, self.instant) if part)


class Key(NamedTuple):
    """A cell's name: a row and a column."""

    row: str
    column: Column = Column()

    def __str__(self) -> str:
        return f"{self.row} [{self.column}]" if any(self.column) else self.row


#: What a symbol of a cell's expression reads: one cell, or for a range node several.
Target = Key | tuple[Key, ...]

#: The fields of a column that each level keeps.
FIELDS = {
    "scenario": (),
    "card": ("pool", "stage"),
    "process": ("pool", "process", "stage"),
    "role": ("role", "pool", "process", "stage"),
}
assert tuple(FIELDS) == LEVELS


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell. `expression` is None for an input; `refs` says which cell each of its symbols reads.

    `labels` name the cells of the range under a NameOfHighest node.
    """

    key: Key
    quantity: Quantity
    expression: sympy.Expr | None = None
    refs: Mapping[sympy.Symbol, Target] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    def reads(self) -> Iterator[Key]:
        """Every cell that this one reads."""
        for target in self.refs.values():
            if isinstance(target, Key):
                yield target
            else:
                yield from target


@dataclass(frozen=True)
class Role:
    """A role of the scenario: where it lives and in which process."""

    name: str
    pool: str
    process: str


@dataclass(frozen=True)
class Instant:
    """A row of the timeline: role -> names of what it holds then; `empties` lists processes whose allocator caches nothing then."""

    name: str
    label: str
    holds: Mapping[str, tuple[str, ...]]
    empties: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The structural part of a scenario: what needs a rebuild to change."""

    roles: tuple[Role, ...]
    instants: tuple[Instant, ...]
    staged_pools: frozenset[str] = frozenset()

    @cached_property
    def pools(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(role.pool for role in self.roles))

    @cached_property
    def processes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(role.process for role in self.roles))

    @cached_property
    def cards(self) -> tuple[Column, ...]:
        return tuple(Column(pool=pool, stage=stage) for pool in self.pools for stage in self.stages(pool))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Every column of the sheets, from coarse to fine; what is on one card lies side by side."""
        processes: dict[Column, None] = {}
        roles: list[Column] = []
        for card in self.cards:
            for role in self.roles:
                if role.pool == card.pool:
                    processes[card._replace(process=role.process)] = None
                    roles.append(card._replace(role=role.name, process=role.process))
        return (Column(), *self.cards, *processes, *roles)

    def stages(self, pool: str) -> tuple[str, ...]:
        return STAGES if pool in self.staged_pools else ("",)

    def role(self, name: str) -> Role:
        return next(role for role in self.roles if role.name == name)

    def level(self, level: str) -> tuple[Column, ...]:
        """The columns of one level."""
        return tuple(c for c in self.columns if _level_of(c) == level)


def _level_of(column: Column) -> str:
    return "role" if column.role else "process" if column.process else "card" if column.pool else "scenario"


class LoweringError(DeclarationError):
    """The declarations and the layout do not fit together."""


@dataclass(frozen=True)
class Model:
    """The cells of a scenario in an order in which each can be computed, and what they were made from."""

    declaration: Declaration
    layout: Layout
    cells: dict[Key, Cell]

    @property
    def inputs(self) -> dict[Key, Cell]:
        return {key: cell for key, cell in self.cells.items() if cell.expression is None}

    def headline(self, meaning: str) -> list[Key]:
        """The cells of a headline row, one for each card (or one for the scenario)."""
        row = self.declaration.headline[meaning]
        return [key for key in self.cells if key.row == row]

    def peak_range(self, card: Column) -> tuple[Key, ...]:
        """The cells whose highest is a card's peak: what must be there, one for each instant."""
        return tuple(self.cells[next(key for key in self.headline("peak") if key.column == card)].reads())

    def checks(self) -> list[Key]:
        return [key for key, cell in self.cells.items() if cell.quantity.severity]


def lower(declaration: Declaration, layout: Layout, stated: Callable[[Quantity, Column], bool]) -> Model:
    """Flatten rows, roles and schedule to cells.

    `stated(quantity, column)` tells whether the scenario gives a catalogue's figure its own value. Raises LoweringError
    for a component that no chapter declares, for a formula that reads a cell its column does not have, and for
    formulas that read each other.
    """
    return _Lowering(declaration, layout, stated).run()


class _Lowering:
    def __init__(self, declaration: Declaration, layout: Layout, stated: Callable[[Quantity, Column], bool]) -> None:
        self.declaration, self.layout, self.stated = declaration, layout, stated
        self.cells: dict[Key, Cell] = {}
        self.instants = {instant.name: instant for instant in layout.instants}
        names = [instant.name for instant in layout.instants]
        self.before = dict(zip(names[1:], names, strict=False))
        self.rank = {name: number for number, name in enumerate(declaration.rows)}

    def run(self) -> Model:
        for name in dict.fromkeys([*self.declaration.statistics.values(), *self.declaration.headline.values()]):
            self.want(*self.everywhere(self.declaration[name]))
        self.add_checks()
        graph = {key: tuple(cell.reads()) for key, cell in self.cells.items()}  # a set would shuffle the order
        try:
            order = tuple(graphlib.TopologicalSorter(graph).static_order())
        except graphlib.CycleError as error:
            raise LoweringError(f"these formulas read each other: {' -> '.join(map(str, error.args[1]))}") from None
        return Model(self.declaration, self.layout, {key: self.cells[key] for key in order})

    def everywhere(self, quantity: Quantity) -> list[Key]:
        instants = tuple(self.instants) if quantity.timed else ("",)
        return [
            Key(quantity.name, column._replace(instant=instant))
            for column in self.layout.level(quantity.per)
            for instant in instants
        ]

    def want(self, *keys: Key) -> None:
        """Make these cells and all that they read. (A stack, since chains of cells are deeper than Python's recursion.)"""
        stack = list(keys)
        while stack:
            key = stack.pop()
            if key not in self.cells:
                self.cells[key] = cell = self.make(key)
                stack.extend(read for read in cell.reads() if read not in self.cells)

    def add_checks(self) -> None:
        """A check stands wherever all that it reads is in use; it never asks for an input of its own."""
        for quantity in self.declaration.rows.values():
            if quantity.severity:
                for key in self.everywhere(quantity):
                    cell = self.make(key)
                    if all(read in self.cells for read in cell.reads()):
                        self.cells[key] = cell

    def make(self, key: Key) -> Cell:
        quantity, column = self.declaration[key.row], key.column
        if column.instant and not quantity.timed:  # a component: what a role holds at this instant
            held = Key(key.row, self.project(column, quantity, key))
            return Cell(key, quantity, quantity.symbol, {quantity.symbol: held})
        if quantity.is_given:
            return self.make_given(key, quantity)
        if quantity.stages is not None:
            expression = quantity.stages[column.stage]
        else:
            assert quantity.expression is not None
            expression = quantity.expression
            if quantity.previous is not None:
                if column.process in self.instants[column.instant].empties:
                    expression = quantity.emptied
                elif column.instant in self.before:
                    expression = sympy.Max(expression, quantity.previous, evaluate=False)
        refs = {symbol: self.resolve(symbol, key) for symbol in sorted(expression.free_symbols, key=lambda s: s.dummy_index)}
        if () in refs.values():
            return self.make_empty(key, quantity, expression)
        labels: tuple[str, ...] = ()
        if isinstance(expression, nodes.NameOfHighest):
            cells = refs[expression.args[0]]
            assert not isinstance(cells, Key)
            labels = tuple(map(self.label, cells))
        return Cell(key, quantity, expression, refs, labels)

    def make_empty(self, key: Key, quantity: Quantity, expression: sympy.Expr) -> Cell:
        """A cell over a range without cells, such as a card on which nothing is held at an instant."""
        if isinstance(expression, nodes.NameOfHighest):
            return Cell(key, replace(quantity, choices=("nothing",)), sympy.Integer(0))
        if isinstance(expression, (nodes.Total, nodes.Highest)):
            return Cell(key, quantity, sympy.Integer(0))
        raise LoweringError(f"{quantity.where}: {key} reads a range without cells")

    def make_given(self, key: Key, quantity: Quantity) -> Cell:
        if key.column.stage not in ("", STAGES[0]):  # one input serves all stages
            first = Key(key.row, key.column._replace(stage=STAGES[0]))
            return Cell(key, quantity, quantity.symbol, {quantity.symbol: first})
        if quantity.lookup is not None and not self.stated(quantity, key.column):
            option = quantity.lookup.args[0]
            return Cell(key, quantity, quantity.lookup, {option: self.resolve(option, key)})
        return Cell(key, quantity)

    def label(self, key: Key) -> str:
        """How a word cell names another cell: an instant by its label, a component by its own and its role's."""
        if key.column.role:
            label = self.declaration[key.row].label
            return f"{label}, {key.column.role}" if len(self.layout.roles) > 1 else label
        return self.instants[key.column.instant].label if key.column.instant else str(key.column)

    def resolve(self, symbol: sympy.Symbol, reader: Key) -> Target:
        entry, column = TABLE[symbol], reader.column
        if isinstance(entry, Quantity):
            return Key(entry.name, self.project(column, entry, reader))
        if entry.every == "component":
            return self.components(column, entry.per)
        assert entry.target is not None
        target = TABLE[entry.target]
        assert isinstance(target, Quantity)
        if entry.previous:
            return Key(target.name, column._replace(instant=self.before[column.instant]))
        if entry.role:
            return Key(target.name, self.of_role(entry.role, column, reader))
        if entry.instant:
            if entry.instant not in self.instants:
                raise LoweringError(f"{target.where}: {reader.row} reads the instant {entry.instant!r}, which the schedule lacks")
            return Key(target.name, self.project(column, target, reader)._replace(instant=entry.instant))
        return tuple(Key(target.name, where) for where in self.range(entry, target, column, reader))

    def range(self, entry: Reference, target: Quantity, column: Column, reader: Key) -> list[Column]:
        if entry.every == "card":
            return list(self.layout.cards)
        if entry.every == "instant":
            here = self.project(column, target, reader, timed=False)
            return [here._replace(instant=name) for name in self.instants]
        return [
            where._replace(instant=column.instant if target.timed else "")
            for where in self.layout.level(entry.every)
            if (where.pool, where.stage) == (column.pool, column.stage)
        ]

    def project(self, column: Column, quantity: Quantity, reader: Key, *, timed: bool | None = None) -> Column:
        """The column from which `reader`, standing at `column`, reads a quantity: the same one, made coarser."""
        needed = FIELDS[quantity.per]
        found = Column(**{name: getattr(column, name) for name in needed})
        if needed and not all(getattr(found, name) for name in needed if name != "stage"):
            raise LoweringError(
                f"{self.declaration[reader.row].where}: {reader.row} has one value for the {_level_of(column)} but reads "
                f"{quantity.name}, which each {quantity.per} has of its own: say whose with of(...) or every(...)"
            )
        return found._replace(instant=column.instant) if (quantity.timed if timed is None else timed) else found

    def of_role(self, name: str, column: Column, reader: Key) -> Column:
        if name not in (role.name for role in self.layout.roles):
            raise LoweringError(f"{self.declaration[reader.row].where}: {reader.row} reads the role {name!r}, which this scenario lacks")
        role = self.layout.role(name)
        stages = self.layout.stages(role.pool)
        stage = column.stage if column.pool == role.pool and column.stage in stages else stages[0]
        return Column(role.name, role.pool, role.process, stage)

    def components(self, column: Column, per: str) -> tuple[Key, ...]:
        """What the schedule holds at the column's instant, by process, role and row: the order of the timeline's columns."""
        found = []
        for role in sorted(self.layout.roles, key=lambda role: self.layout.processes.index(role.process)):
            if role.pool == column.pool and (per == "card" or role.process == column.process):
                held = self.instants[column.instant].holds.get(role.name, ())
                if unknown := [name for name in held if name not in self.rank]:
                    raise LoweringError(f"instant {column.instant}: no formula is called {unknown[0]!r}")
                where = Column(role.name, role.pool, role.process, column.stage, column.instant)
                found += [Key(name, where) for name in sorted(held, key=self.rank.__getitem__)]
        return tuple(found)
