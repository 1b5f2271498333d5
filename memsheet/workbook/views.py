"""Cells that only point: the Summary, the Measured sheet and the overall check, made of the model's own cells.

They are ordinary cells, so they are computed, printed and tested like every other; nothing is worked out in a sheet only.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache

import sympy

from .. import compare, evaluate
from ..language import Language
from ..model import Cell, Column, Key, Model, Target
from ..nodes import CountOf
from ..quantity import TABLE, Quantity, Reference
from ..scenario import NOT_COVERED, Scenario
from ..units import Unit, share, words
from .wording import Wording

SUMMARY, MEASURED = "Summary", "Measured"
#: What the names of the Summary's cells for stated inputs begin with.
ASKED = f"{SUMMARY}.asked."
gibibyte = Unit("GiB", 0)
GIB = 2**30
#: The answers of the overall check, from the best to the worst: keys of their texts.
STATUS = ("all_covered", "some_less_sure", "some_not_covered")


@dataclass
class Views:
    """The extra cells of a workbook, and the value of those that are numbers typed in (the measured figures).

    `base` is the scenario's model in the language of the workbook.
    """

    scenario: Scenario
    wording: Wording
    base: Model
    pairs: list[compare.Pair]
    cells: dict[Key, Cell] = field(default_factory=dict)
    inputs: dict[Key, float] = field(default_factory=dict)

    def model(self) -> Model:
        """The scenario's cells with the views behind them."""
        return Model(self.base.declaration, self.base.layout, self.base.cells | self.cells)

    def values(self) -> dict[Key, evaluate.Value]:
        """The value of every cell of that model. The scenario's numbers are known; its words are found anew, in the language."""
        known, cells = self.scenario.values, self.model().cells
        own = {key: cell for key, cell in cells.items() if key in self.cells or isinstance(known[key], str)}
        read = dict.fromkeys(key for cell in own.values() for key in cell.reads() if key not in own)
        given = {key: Cell(key, cells[key].quantity) for key in read}
        found = evaluate.scalar(Model(self.base.declaration, self.base.layout, given | own))
        return known | found(known | self.inputs)

    def add(self, row: str, column: Column, label: str, unit: Unit, expression: sympy.Expr | None, refs: dict[sympy.Symbol, Target],
            choices: tuple[str, ...] = ()) -> Key:  # fmt: skip
        key = Key(row, column)
        quantity = Quantity(sympy.Dummy("view"), label, unit, "workbook", "scenario", expression=expression, name=row, choices=choices)
        self.cells[key] = Cell(key, quantity, expression, refs)
        return key

    def in_gib(self, row: str, column: Column, label: str, *keys: Key) -> Key:
        """The sum of some cells, in GiB."""
        symbols = self.symbols(*keys)
        return self.add(row, column, label, gibibyte, sympy.Add(*symbols) / GIB, dict(zip(symbols, keys, strict=True)))

    def same(self, row: str, column: Column, key: Key) -> Key:
        """A cell that shows another, as it is."""
        cell, (symbol,) = self.base.cells[key], self.symbols(key)
        return self.add(row, column, cell.quantity.label, cell.quantity.unit, symbol, {symbol: key}, cell.quantity.choices)

    def symbols(self, *keys: Key) -> list[sympy.Symbol]:
        """Symbols that stand for cells in one view's expression: a row's own, and others where it has several cells there."""
        seen: Counter[sympy.Symbol] = Counter()
        found = []
        for key in keys:
            row = (self.cells.get(key) or self.base.cells[key]).quantity.symbol
            found.append(_another(row, seen[row]) if seen[row] else row)
            seen[row] += 1
        return found


@cache
def _another(row: sympy.Symbol, number: int) -> sympy.Symbol:
    """One symbol for all views, so that equal expressions are the same; sympy orders by name, so each has its own."""
    symbol = sympy.Dummy(f"view {row.dummy_index:09} {number:03}", real=True)
    TABLE[symbol] = Reference(row)
    return symbol


def build(scenario: Scenario, language: Language) -> Views:
    """All views of a scenario, with the records that stand beside it."""
    wording = Wording(language)
    views = Views(scenario, wording, wording.model(scenario.model), compare.beside(scenario))
    _headline(views)
    _status(views)
    _asked(views)
    for card in views.base.layout.cards:
        _timeline(views, card)
    for number, pair in enumerate(views.pairs):
        _measured(views, number, pair)
    return views


#: Summary rows: meaning of a headline row -> whether it is shown in GiB.
HEADLINES = {
    "verdict": False, "peak": True, "capacity": True, "headroom": True, "headroom_share": False, "reserve": False,
    "typical_peak": True, "peak_instant": False, "peak_component": False, "cards": False,
}  # fmt: skip


def _headline(views: Views) -> None:
    model = views.base
    for meaning, in_gib in HEADLINES.items():
        keys = model.headline(meaning)
        if meaning == "verdict":
            for key in keys:
                _verdict(views, key)
            continue
        for card in model.layout.cards:
            key = next((key for key in keys if (key.column.pool, key.column.stage) == (card.pool, card.stage)), keys[0])
            label = model.cells[key].quantity.label
            if in_gib:
                views.in_gib(f"{SUMMARY}.{meaning}", card, label, key)
            else:
                views.same(f"{SUMMARY}.{meaning}", card, key)


def _verdict(views: Views, key: Key) -> None:
    """The model's verdict, or that there is none: where a check refuses, no figure holds."""
    quantity, (symbol,) = views.base.cells[key].quantity, views.symbols(key)
    refused, refs = _failed(views, "refuse")
    *tests, last = range(len(quantity.choices))
    answers = [(number, sympy.Eq(symbol, number)) for number in tests]
    expression = sympy.Piecewise((len(quantity.choices), refused), *answers, (last, True))
    words_ = (*quantity.choices, views.wording.language.word(NOT_COVERED))
    views.add(f"{SUMMARY}.verdict", key.column, quantity.label, words, expression, {symbol: key, **refs}, words_)


def _failed(views: Views, severity: str) -> tuple[sympy.Basic, dict[sympy.Symbol, Target]]:
    """Whether any check of a severity fails, and what that reads."""
    keys = tuple(key for key in views.base.checks() if views.base.cells[key].quantity.severity == severity)
    if not keys:
        return sympy.false, {}
    (symbol,) = views.symbols(keys[0])
    return CountOf(symbol, 1) > 0, {symbol: keys}


def _asked(views: Views) -> None:
    """The inputs that somebody stated; one cell for all roles where they agree."""
    scenario = views.scenario
    rows: dict[str, list[Key]] = {name: [] for name in views.base.declaration.rows}
    for key in scenario.places:
        if key in views.base.cells:
            rows[key.row].append(key)
    for name, keys in rows.items():
        differ = len({value for key, value in scenario.inputs.items() if key.row == name}) > 1
        for key in keys if differ else keys[:1]:
            views.same(f"{ASKED}{name}", key.column if differ else Column(), key)


def _status(views: Views) -> None:
    """One word for all checks."""
    refused, refs = _failed(views, "refuse")
    doubted, more = _failed(views, "caution")
    expression = sympy.Piecewise((2, refused), (1, doubted), (0, True))
    refs |= more
    views.add(f"{SUMMARY}.status", Column(), "Checks", words, expression, refs, tuple(map(views.wording.text, STATUS)))


def _timeline(views: Views, card: Column) -> None:
    """Instant x series in GiB, and what each tool would show."""
    model = views.base
    declaration = model.declaration
    here: dict[str, list[Key]] = {instant.name: [] for instant in model.layout.instants}
    for key in model.cells:
        if key.column.instant and (key.column.pool, key.column.stage) == (card.pool, card.stage):
            here[key.column.instant].append(key)
    capacity = next(key for key in model.headline("capacity") if key.column == card)
    for instant, keys_then in here.items():
        where = card._replace(instant=instant)
        held: dict[str, list[Key]] = {}
        for key in keys_then:
            if key.column.role:
                held.setdefault(declaration.series_of(key.row), []).append(key)
        for series, keys in held.items():
            views.in_gib(f"{SUMMARY}.series.{series}", where, series, *keys)
        for statistic, row in declaration.statistics.items():
            keys = [key for key in keys_then if key.row == row and key.column._replace(process="") == where]
            views.in_gib(f"{SUMMARY}.statistic.{statistic}", where, declaration[row].label, *keys)
        needed = next(key for key in model.peak_range(card) if key.column == where)
        views.in_gib(f"{SUMMARY}.needed", where, model.cells[needed].quantity.label, needed)
        views.in_gib(f"{SUMMARY}.capacity", where, "Card", capacity)


def _measured(views: Views, number: int, pair: compare.Pair) -> None:
    where = Column(role=f"{number}")
    measured = views.add(f"{MEASURED}.measured", where, "Measured", gibibyte, None, {})
    views.inputs[measured] = pair.figure.bytes / GIB
    symbol = sympy.Dummy("view", real=True)
    keys = tuple(pair.cells)
    if len(keys) == 1:
        predicted = views.in_gib(f"{MEASURED}.predicted", where, "Predicted", keys[0])
    else:
        symbols = views.symbols(*keys)
        expression = sympy.Max(*symbols, evaluate=False) / GIB
        predicted = views.add(f"{MEASURED}.predicted", where, "Predicted", gibibyte, expression, dict(zip(symbols, keys, strict=True)))
    if pair.error is None:  # "at least 80 GB": nothing is off by a share of that
        return
    (predicted_symbol,) = views.symbols(predicted)
    refs: dict[sympy.Symbol, Target] = {predicted_symbol: predicted, symbol: measured}
    views.add(f"{MEASURED}.difference", where, "Difference", gibibyte, predicted_symbol - symbol, refs)
    views.add(f"{MEASURED}.error", where, "Difference, as a share", share, (predicted_symbol - symbol) / symbol, refs)


def series_of(views: Views, card: Column) -> list[str]:
    """The series that a card's chart has, in the declared order."""
    present = {key.row for key in views.cells if (key.column.pool, key.column.stage) == (card.pool, card.stage)}
    return [series for series in views.base.declaration.series_names() if f"{SUMMARY}.series.{series}" in present]
