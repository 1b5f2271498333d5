"""The sections between the decision and the appendix: a card's timeline, the inputs, the sources."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from .. import nodes
from ..figures import gib, percent
from ..model import Column, Key
from ..quantity import Quantity
from . import chart, timeline
from .reading import Reading


@dataclass(frozen=True)
class Card:
    """The timeline of one card: its chart with a legend of (colour, series), and its tables.

    The components are listed for the tightest card only; the workbook has all.
    """

    name: str
    chart: Markup
    legend: tuple[tuple[str, str], ...]
    instants: timeline.Table
    components: timeline.Table | None


@dataclass(frozen=True)
class Input:
    """An input and its value for those who have it."""

    label: str
    symbol: Markup
    value: str
    whose: str
    stated: bool
    source: str


def cards(reading: Reading) -> list[Card]:
    """One timeline a card (a pool and a stage), the tightest first; cards with the same figures share one."""
    tightest = reading.scenario.tightest_card()
    alike: dict[tuple[object, ...], list[Column]] = {}
    for column in sorted(reading.scenario.model.layout.cards, key=lambda card: card != tightest):
        figures = timeline.instants(reading, column), timeline.table_of_components(reading, column), card_lines(reading, column)
        alike.setdefault(figures, []).append(column)
    return [_card(reading, columns, tightest in columns) for columns in alike.values()]


def _card(reading: Reading, columns: list[Column], tightest: bool) -> Card:
    column = columns[0]
    text, bars = reading.text, timeline.bars(reading, column)
    series = reading.scenario.model.declaration.series_names()
    lines = card_lines(reading, column)
    words = chart.Words(text("chart_title"), text("chart_axis"), text("chart_beyond"))
    used = [name for name in series if any(name in bar.series for bar in bars)]
    return Card(
        text("semicolon").join(map(reading.card, columns)),
        chart.timeline(bars, series, lines, words),
        tuple((chart.COLOURS[series.index(name)], reading.language.series(name)) for name in used),
        timeline.instants(reading, column),
        timeline.table_of_components(reading, column) if tightest else None,
    )


def card_lines(reading: Reading, column: Column) -> chart.Lines:
    """What CUDA can allocate on a card and what the buyer's reserve leaves of it."""
    capacity, usable, reserve = (reading.amount(meaning, column) for meaning in ("capacity", "usable", "reserve"))
    return chart.Lines(
        capacity,
        usable,
        reading.text("chart_capacity", size=gib(capacity, 1)),
        reading.text("chart_usable", share=percent(reserve), size=gib(usable, 1)),
    )


def inputs(reading: Reading) -> list[Input]:
    """Every input, in the order of the declaration; the members of a list share a row."""
    model, found = reading.scenario.model, []
    rows, groups = model.declaration.rows, dict[str, list[Quantity]]()
    for row in rows.values():
        if keys := [key for key in reading.rows.get(row.name, ()) if model.cells[key].expression is None]:
            if not row.group:
                found += _input(reading, row, keys)
                continue
            name = row.group.partition(".")[0]
            if name not in groups:
                groups[name] = [other for other in rows.values() if other.group.startswith(f"{name}.")]
                found += _group(reading, name, groups[name], keys)
    return found


def _input(reading: Reading, row: Quantity, keys: list[Key]) -> list[Input]:
    """A row for each value that an input has, with those that have it."""
    symbol = Markup(reading.printer.names.symbol(row)) if row.tex else Markup("")
    return [
        Input(
            reading.language.label(row), symbol, value, whose, row.name in reading.scenario.stated,
            _looked_up(reading, first) if row.catalogue else "; ".join(filter(None, (row.note, row.source))),
        )
        for value, whose, first in _by_value(reading, keys, reading.value)
    ]  # fmt: skip


def _by_value(reading: Reading, keys: list[Key], value_of: Callable[[Key], str]) -> Iterator[tuple[str, str, Key]]:
    """Each value, who has it, and the first cell with it."""
    found: dict[str, list[Key]] = {}
    for key in sorted(keys, key=lambda key: reading.scenario.model.layout.columns.index(key.column)):
        found.setdefault(value_of(key), []).append(key)
    for value, some in found.items():
        yield value, reading.whose(some, [key for key in keys if key not in some]), some[0]


def _looked_up(reading: Reading, option: Key) -> str:
    """The figures that a catalogue fills in for a choice."""
    model = reading.scenario.model
    found = {
        key.row: f"{reading.language.label(cell.quantity)} {reading.value(key)}"
        for key, cell in model.cells.items()
        if isinstance(cell.expression, nodes.Lookup) and option in cell.reads()
    }
    return reading.text("semicolon").join(found[row] for row in model.declaration.rows if row in found)


def _group(reading: Reading, name: str, members: list[Quantity], keys: list[Key]) -> list[Input]:
    """A list of a scenario file (lora_targets): the members that are switched on."""
    values, stated = reading.scenario.values, any(row.name in reading.scenario.stated for row in members)

    def chosen(key: Key) -> str:
        on = [row.group.partition(".")[2] for row in members if values.get(key._replace(row=row.name))]
        return reading.listed(on) or reading.text("none")

    return [
        Input(reading.language.word(name), Markup(""), value, whose, stated, "")
        for value, whose, _ in _by_value(reading, keys, chosen)
    ]


def sources(reading: Reading) -> list[str]:
    """Where the order of the instants and the figures of the chosen rows of catalogues come from."""
    scenario, text = reading.scenario, reading.text
    found = [text("source_schedule", source=scenario.schedule.source)]
    for key, cell in scenario.model.cells.items():
        catalogue = cell.quantity.catalogue
        if catalogue is not None and cell.expression is None:
            word = cell.quantity.choices[int(scenario.values[key])]
            found.append(text("source_catalogue", catalogue=catalogue.title, row=catalogue.labels[word], source=catalogue.sources[word]))
    return list(dict.fromkeys(found))
