"""The sections between the decision and the appendix: a card's timeline, the inputs, the sources."""

from dataclasses import dataclass

from markupsafe import Markup

from .. import nodes
from ..figures import gib, percent
from ..model import Column, Key
from . import chart, timeline
from .reading import Reading


@dataclass(frozen=True)
class Card:
    """The timeline of one card: its chart with a legend of (colour, series), and its tables."""

    name: str
    chart: Markup
    legend: tuple[tuple[str, str], ...]
    instants: timeline.Table
    components: timeline.Table


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
    """One timeline a card (a pool and a stage); cards with the same figures share one."""
    alike: dict[tuple[object, ...], list[Column]] = {}
    for column in reading.scenario.model.layout.cards:
        figures = timeline.instants(reading, column), timeline.table_of_components(reading, column), card_lines(reading, column)
        alike.setdefault(figures, []).append(column)
    return [_card(reading, columns) for columns in alike.values()]


def _card(reading: Reading, columns: list[Column]) -> Card:
    column = columns[0]
    text, bars = reading.text, timeline.bars(reading, column)
    series = reading.scenario.model.declaration.series_names()
    lines = card_lines(reading, column)
    words = chart.Words(text("chart_title"), text("chart_axis"), text("chart_beyond"))
    used = [name for name in series if any(name in bar.series for bar in bars)]
    return Card(
        reading.listed(map(reading.card, columns)),
        chart.timeline(bars, series, lines, words),
        tuple((chart.COLOURS[series.index(name)], reading.language.series(name)) for name in used),
        timeline.instants(reading, column),
        timeline.table_of_components(reading, column),
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
    """Every input and every figure that a catalogue fills in, in the order of the declaration."""
    scenario, found = reading.scenario, []
    read: dict[str, list[Key]] = {}
    for key, cell in scenario.model.cells.items():
        if cell.expression is None or isinstance(cell.expression, nodes.Lookup):
            read.setdefault(key.row, []).append(key)
    for name, row in scenario.model.declaration.rows.items():
        owners: dict[str, list[str]] = {}
        for key in read.get(name, ()):
            owners.setdefault(reading.value(key), []).append(reading.place(key.column))
        for value, places in owners.items():
            found.append(
                Input(
                    reading.language.label(row),
                    Markup(reading.printer.names.symbol(row)) if row.tex else Markup(""),
                    value,
                    reading.listed(filter(None, dict.fromkeys(places))) if len(owners) > 1 else "",
                    name in scenario.stated,
                    "; ".join(filter(None, (row.note, row.source))),
                )
            )
    return found


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
