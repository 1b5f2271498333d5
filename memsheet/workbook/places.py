"""Where every cell stands: sheet, row and column. Knows the shape of the sheets, never a formula's name."""

import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import NamedTuple

from openpyxl.utils import get_column_letter, quote_sheetname

from ..model import Cell, Column, Key, Model
from ..printers.base import PrintError, Slot
from ..quantity import LOOKUPS

INPUTS, TIMELINE, CHECKS = "Inputs", "Timeline", "Checks"
FIXED_SHEETS = ("Summary", INPUTS, TIMELINE, "Measured", CHECKS, "Sources", "About")
#: Row label, name and unit come first; the columns of the model follow.
FIRST_COLUMN = 4
FIRST_ROW = 5
#: Above the body of a timeline block: the card, then who holds a component, then what it is.
BLOCK_HEAD = 3


class Place(NamedTuple):
    """An address. `row` and `column` count from 1."""

    sheet: str
    row: int
    column: int

    @property
    def address(self) -> str:
        return f"{get_column_letter(self.column)}{self.row}"

    def absolute(self) -> str:
        return f"${get_column_letter(self.column)}${self.row}"


@dataclass(frozen=True)
class Block:
    """One card's part of the timeline: a row for each instant, a column for each component and each timeline row."""

    card: Column
    top: int
    columns: tuple[tuple[str, Column], ...]  # (row name, column without its instant)
    instants: tuple[str, ...]

    @property
    def first_row(self) -> int:
        return self.top + BLOCK_HEAD

    def place(self, key: Key) -> Place:
        row = self.first_row + self.instants.index(key.column.instant)
        return Place(TIMELINE, row, 2 + self.columns.index((key.row, key.column._replace(instant=""))))


@dataclass
class Places:
    """The address of every cell of a model, and what each sheet holds."""

    model: Model
    columns: tuple[Column, ...] = ()
    of: dict[Key, Place] = field(default_factory=dict)
    rows: dict[str, dict[str, int]] = field(default_factory=dict)  # sheet -> row name -> row
    blocks: tuple[Block, ...] = ()

    @cached_property
    def taken(self) -> frozenset[Place]:
        return frozenset(self.of.values())

    def text(self, key: Key, reader: Place) -> str:
        """How a formula at `reader` writes a reference to a cell: relative within its own column, else absolute."""
        place = self.of[key]
        if place.sheet == reader.sheet:
            return place.address if reader.column == place.column else place.absolute()
        return f"{quote_sheetname(place.sheet)}!{place.address if reader.column == place.column else place.absolute()}"

    def range(self, keys: Iterable[Key], reader: Place) -> str:
        """A1:B2 where the cells lie side by side with nothing else between them."""
        places = [self.of[key] for key in keys]
        sheets = {place.sheet for place in places}
        rows, columns = [place.row for place in places], [place.column for place in places]
        first, last = Place(places[0].sheet, min(rows), min(columns)), Place(places[0].sheet, max(rows), max(columns))
        box = product([first.sheet], builtins.range(first.row, last.row + 1), builtins.range(first.column, last.column + 1))
        if len(sheets) > 1 or sum(place in self.taken for place in box) != len(places):
            raise PrintError(f"the cells {', '.join(map(str, keys))} do not lie side by side")
        text = first.absolute() if first == last else f"{first.absolute()}:{last.absolute()}"
        return text if first.sheet == reader.sheet else f"{quote_sheetname(first.sheet)}!{text}"

    def labels(self, keys: tuple[Key, ...], reader: Place) -> str:
        """Where the labels of a range stand: beside its rows, or above its columns."""
        first, last = self.of[keys[0]], self.of[keys[-1]]
        block = next(block for block in self.blocks if block.first_row <= first.row < block.first_row + len(block.instants))
        if first.column == last.column and len(keys) > 1:
            corners = Place(first.sheet, first.row, 1), Place(first.sheet, last.row, 1)
        else:
            corners = Place(first.sheet, block.first_row - 1, first.column), Place(first.sheet, block.first_row - 1, last.column)
        text = f"{corners[0].absolute()}:{corners[1].absolute()}"
        return text if first.sheet == reader.sheet else f"{quote_sheetname(first.sheet)}!{text}"

    def fill(self, slot: Slot, cell: Cell) -> str:
        """The text of a slot of a cell's formula (see printers.base)."""
        reader = self.of[cell.key]
        if slot.kind in ("values", "rows"):
            return catalogue_range(slot)
        target: object = cell.refs[slot.subject]  # type: ignore[index]
        if slot.kind == "cell":
            return self.text(target, reader)  # type: ignore[arg-type]
        if slot.kind == "labels":
            return self.labels(target, reader)  # type: ignore[arg-type]
        return self.range(target, reader)  # type: ignore[arg-type]


def catalogue_range(slot: Slot) -> str:
    """A catalogue's column of figures, or its column of words."""
    catalogue, column = LOOKUPS[slot.subject]  # type: ignore[index]
    number = 1 if slot.kind == "rows" else 3 + list(catalogue.columns).index(column)
    letter, last = get_column_letter(number), FIRST_ROW + len(catalogue.rows) - 1
    return f"{quote_sheetname(catalogue.title)}!${letter}${FIRST_ROW}:${letter}${last}"


def sheet_of(model: Model, cell: Cell) -> str:
    """The sheet of a cell that is not on the timeline."""
    quantity = cell.quantity
    if quantity.severity:
        return CHECKS
    return INPUTS if quantity.is_given else chapter_sheet(model.declaration.chapters[quantity.chapter])


def chapter_sheet(title: str) -> str:
    """The name of a chapter's sheet; a chapter may be called like one of the fixed sheets."""
    name = title.partition(":")[0]
    return f"{name} formulas" if name in FIXED_SHEETS else name


def assign(model: Model) -> Places:
    """Give every cell of a model its place. Each row holds one quantity, each column one role, process or card."""
    plain = {key: cell for key, cell in model.cells.items() if not key.column.instant}
    used = {key.column for key, cell in plain.items() if not cell.quantity.severity}
    places = Places(model, tuple(column for column in model.layout.columns if column in used))
    numbers = {column: FIRST_COLUMN + number for number, column in enumerate(places.columns)}
    order = {name: number for number, name in enumerate(model.declaration.rows)}
    chapter = ""
    # Checks that refuse stand before those that caution, so that each kind is one range.
    for key in sorted(plain, key=lambda key: (plain[key].quantity.severity == "caution", order[key.row])):
        cell = plain[key]
        sheet = sheet_of(model, cell)
        rows = places.rows.setdefault(sheet, {})
        if sheet == CHECKS:  # a list, not a grid: one line for each place that is checked
            rows[str(key)] = FIRST_ROW + len(rows)
            places.of[key] = Place(sheet, rows[str(key)], 3)
            continue
        if sheet == INPUTS and key.row not in rows and cell.quantity.chapter != chapter:
            chapter = cell.quantity.chapter
            rows[f"# {chapter}"] = FIRST_ROW + len(rows)  # a heading
        row = rows.setdefault(key.row, FIRST_ROW + len(rows))
        places.of[key] = Place(sheet, row, numbers[key.column])
    _assign_timeline(places)
    if len(places.taken) < len(places.of):
        raise ValueError("two cells of the workbook have the same place")  # a chapter called like a fixed sheet did this once
    return places


def _assign_timeline(places: Places) -> None:
    model = places.model
    instants = tuple(instant.name for instant in model.layout.instants)
    timed = [key for key in model.cells if key.column.instant]
    top, blocks = 3, []
    for card in model.layout.cards:
        here = [key for key in timed if (key.column.pool, key.column.stage) == (card.pool, card.stage)]
        block = Block(card, top, _block_columns(model, here), instants)
        places.of.update((key, block.place(key)) for key in here)
        blocks.append(block)
        top = block.first_row + len(instants) + 2
    places.blocks = tuple(blocks)


def _block_columns(model: Model, keys: list[Key]) -> tuple[tuple[str, Column], ...]:
    """Components by process and role, so that every sum is one range; then the timeline's own rows."""
    roles = {role.name: number for number, role in enumerate(model.layout.roles)}
    processes = model.layout.processes
    rows = {name: number for number, name in enumerate(model.declaration.rows)}
    found: Mapping[tuple[str, Column], None] = dict.fromkeys((key.row, key.column._replace(instant="")) for key in keys)
    held = [(name, column) for name, column in found if column.role]
    own = [(name, column) for name, column in found if not column.role]
    held.sort(key=lambda item: (processes.index(item[1].process), roles[item[1].role], rows[item[0]]))
    own.sort(key=lambda item: (rows[item[0]], processes.index(item[1].process) if item[1].process else 0))
    return (*held, *own)
