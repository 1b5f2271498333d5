"""The timeline of one card as the report shows it: bars of allocated memory, and the tables of instants and components."""

from dataclasses import dataclass

from ..figures import gib
from ..model import Column, Key
from .reading import Reading


@dataclass(frozen=True)
class Bar:
    """What torch holds at one instant: series -> bytes allocated. `must` is what must be there, in bytes."""

    label: str
    series: dict[str, float]
    must: float

    @property
    def total(self) -> float:
        return sum(self.series.values())


@dataclass(frozen=True)
class Table:
    """Head (two rows where processes share the card) and rows of text; `peak` is the number of the row at the peak."""

    groups: tuple[tuple[str, int], ...]
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    peak: int = -1


def bars(reading: Reading, card: Column) -> list[Bar]:
    """One bar an instant, its series in the order of the declaration."""
    scenario = reading.scenario
    declaration, values = scenario.model.declaration, scenario.values
    must = {key.column.instant: key for key in scenario.model.peak_range(card)}
    found = []
    for name, label in reading.instants.items():
        sums = dict.fromkeys(declaration.series_names(), 0.0)
        for key in components(reading, card):
            if key.column.instant == name:
                sums[declaration.series_of(key.row)] += values[key]
        shown = {series: amount for series, amount in sums.items() if amount}
        found.append(Bar(label, shown, float(values[must[name]])))
    return found


def components(reading: Reading, card: Column) -> list[Key]:
    """Every component cell of a card, in the order of the declaration."""
    rank = {name: number for number, name in enumerate(reading.scenario.model.declaration.rows)}
    found = [
        key
        for key, cell in reading.scenario.model.cells.items()
        if key.column.role and key.column.instant and not cell.quantity.timed
        and (key.column.pool, key.column.stage) == (card.pool, card.stage)
    ]  # fmt: skip
    roles = [role.name for role in reading.scenario.model.layout.roles]
    return sorted(found, key=lambda key: (rank[key.row], roles.index(key.column.role)))


def instants(reading: Reading, card: Column) -> Table:
    """Instant x what a tool measures, in GiB: per process, then for the card, then what must be there."""
    scenario, text = reading.scenario, reading.text
    statistics = scenario.model.declaration.statistics
    columns: list[tuple[str, str, str, Column]] = []
    for process in dict.fromkeys(role.process for role in scenario.model.layout.roles if role.pool == card.pool):
        for statistic, row in statistics.items():
            if scenario.model.declaration[row].per == "process":
                columns.append((reading.language.word(process), reading.language.word(statistic), row, card._replace(process=process)))
    for statistic, row in statistics.items():
        if scenario.model.declaration[row].per == "card":
            columns.append((text("whole_card"), reading.language.word(statistic), row, card))
    must = scenario.model.peak_range(card)
    columns.append((text("whole_card"), text("must_be_there"), must[0].row, card))
    several = len({group for group, *_ in columns}) > 2
    groups: dict[str, int] = {}
    for group, *_ in columns:
        groups[group] = groups.get(group, 0) + 1
    rows = tuple(
        (f"{number}\u2002{label}", *(gib(scenario.values[Key(row, where._replace(instant=name))]) for _, _, row, where in columns))
        for number, (name, label) in enumerate(reading.instants.items(), 1)
    )
    return Table(
        tuple(groups.items()) if several else (), tuple(head for _, head, _, _ in columns), rows, must.index(reading.winner(must))
    )


def table_of_components(reading: Reading, card: Column) -> Table:
    """Component x instant, in GiB of allocated memory; a blank where a component is not there."""
    values = reading.scenario.values
    rows: dict[str, dict[str, float]] = {}
    for key in components(reading, card):
        rows.setdefault(reading.component(key), {})[key.column.instant] = values[key]
    names = list(reading.instants)
    lines = [
        (label, *(small(amounts[name]) if name in amounts else "" for name in names))
        for label, amounts in rows.items()
        if any(amounts.values())
    ]
    totals = [sum(amounts.get(name, 0) for amounts in rows.values()) for name in names]
    lines.append((reading.text("sum"), *(gib(total) for total in totals)))
    return Table((), tuple(str(number) for number in range(1, len(names) + 1)), tuple(lines))


def small(value: float) -> str:
    """GiB for a narrow column: what would round to nothing is told from nothing."""
    return "0" if not value else gib(value) if value >= 0.005 * 2**30 else "<0.01"
