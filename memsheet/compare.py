"""Prediction beside measurement: the only place that sees both.

    pairs = beside(scenario.load("h200-ppo-lora"))
    pairs[0].figure.bytes, pairs[0].predicted, pairs[0].error
    errors(pairs)["allocated"].median

A record stands beside a scenario only where every one of its settings is the scenario's.
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from . import measurements, values
from .measurements import SCENARIO, SCHEDULE, WHOLE_RUN, Figure, Record
from .model import Column, Key
from .quantity import Quantity
from .scenario import Scenario

#: A record that differs in more settings tells nothing about the scenario.
MOST_DIFFERENCES = 2


@dataclass(frozen=True)
class Pair:
    """A measured figure and what the formulas say: `predicted`, in bytes, is the highest of `cells`.

    The cells are those of the figure's statistic at every instant that its phase covers, on every card and stage.
    """

    record: Record
    figure: Figure
    cells: tuple[Key, ...]
    predicted: float

    @property
    def difference(self) -> float:
        """Predicted less measured, in bytes."""
        return self.predicted - self.figure.bytes

    @property
    def error(self) -> float | None:
        """The difference as a share of the measured value; None for an "at least" figure, from which nothing is off."""
        return None if self.figure.bound == "at least" else self.difference / self.figure.bytes

    @property
    def holds(self) -> bool | None:
        """For an "at least" figure: whether the prediction reaches it. None for others."""
        return self.predicted >= self.figure.bytes if self.figure.bound == "at least" else None


@dataclass(frozen=True)
class LeftOut:
    """A figure of a matching record that no cell predicts, and why."""

    record: Record
    figure: Figure
    reason: str


@dataclass(frozen=True)
class Difference:
    """A setting in which a record and a scenario differ, each in its own words."""

    setting: str
    measured: str
    here: str


@dataclass(frozen=True)
class NearMiss:
    """A record of the scenario's schedule and model that was measured with a few other settings."""

    record: Record
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Errors:
    """Absolute errors, as shares of the measured values."""

    count: int
    median: float
    worst: float


def beside(scenario: Scenario, records: Sequence[Record] | None = None) -> list[Pair]:
    """Every figure of every record that was measured as the scenario says, with its prediction.

    Without `records`, those that memsheet brings. Raises InputError where those cannot be read.
    """
    return [found for found in _compared(scenario, records) if isinstance(found, Pair)]


def left_out(scenario: Scenario, records: Sequence[Record] | None = None) -> list[LeftOut]:
    """The figures of the same records that cannot be compared, with reasons."""
    return [found for found in _compared(scenario, records) if isinstance(found, LeftOut)]


def near_misses(scenario: Scenario, records: Sequence[Record] | None = None) -> list[NearMiss]:
    """Records of the same schedule and model that differ in one or two settings, the nearest first."""
    settings = _Settings(scenario)
    found = []
    for record in measurements.load() if records is None else records:
        differing = settings.differences(record)
        if 0 < len(differing) <= MOST_DIFFERENCES and not {SCHEDULE, SCENARIO, "model"} & {one.setting for one in differing}:
            found.append(NearMiss(record, tuple(differing)))
    return sorted(found, key=lambda miss: len(miss.differences))


def errors(pairs: Iterable[Pair]) -> dict[str, Errors]:
    """Median and worst absolute error of each statistic; "at least" figures do not count."""
    found: dict[str, list[float]] = {}
    for pair in pairs:
        if pair.error is not None:
            found.setdefault(pair.figure.statistic, []).append(abs(pair.error))
    return {name: Errors(len(shares), statistics.median(shares), max(shares)) for name, shares in found.items()}


def _compared(scenario: Scenario, records: Sequence[Record] | None) -> Iterator[Pair | LeftOut]:
    settings = _Settings(scenario)
    for record in measurements.load() if records is None else records:
        if not settings.differences(record):
            for figure in record.figures:
                if reason := _reason(scenario, figure):
                    yield LeftOut(record, figure, reason)
                else:
                    cells = _cells(scenario, figure)
                    yield Pair(record, figure, cells, max(scenario.values[key] for key in cells))


def _reason(scenario: Scenario, figure: Figure) -> str:
    """Why no cell predicts a figure; "" where some do."""
    timeline = scenario.schedule
    processes = set(timeline.roles.values())
    if refusals := scenario.refusals():
        return f"the formulas do not cover the scenario: {refusals[0]}"
    if figure.phase != WHOLE_RUN and figure.phase not in timeline.phases:
        return f"the schedule {timeline.name} has no phase {figure.phase!r}"
    if figure.process and figure.process not in processes:
        return f"the schedule {timeline.name} has no process {figure.process!r}"
    if _row(scenario, figure).per == "process":
        return "" if figure.process or len(processes) == 1 else f"it names no process, and {', '.join(sorted(processes))} share the card"
    return f"{figure.statistic} is predicted for the whole card, not for one process" if figure.process else ""


def _row(scenario: Scenario, figure: Figure) -> Quantity:
    return scenario.model.declaration[scenario.model.declaration.statistics[figure.statistic]]


def _cells(scenario: Scenario, figure: Figure) -> tuple[Key, ...]:
    row, timeline = _row(scenario, figure), scenario.schedule
    everything = tuple(instant.name for instant in timeline.instants)
    instants = everything if figure.phase == WHOLE_RUN else timeline.phases[figure.phase]
    return tuple(
        key
        for key in scenario.model.cells
        if key.row == row.name and key.column.instant in instants and figure.process in ("", key.column.process)
    )


class _Settings:
    """A scenario's inputs, to be asked whether a record's settings are theirs."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.rows = scenario.model.declaration.rows
        self.columns: dict[str, list[Column]] = {}
        for key in scenario.model.cells:
            self.columns.setdefault(key.row, []).append(key.column)
        self.groups: dict[str, dict[str, Quantity]] = {}
        for row in self.rows.values():
            if row.group:
                group, _, member = row.group.partition(".")
                self.groups.setdefault(group, {})[member] = row

    def differences(self, record: Record) -> list[Difference]:
        """The settings of a record that are not the scenario's."""
        return [
            Difference(setting, written, here)
            for setting, written in record.settings.items()
            for here in [self.other(setting, written)]
            if here is not None
        ]

    def other(self, setting: str, written: str) -> str | None:
        """What the scenario has instead; None where it has the same."""
        owner, _, name = setting.rpartition(".")
        if setting == SCHEDULE:
            return None if self.scenario.schedule.name == written else self.scenario.schedule.name
        if setting == SCENARIO:
            return None if self.scenario.name == written else self.scenario.name
        if name in self.groups:
            return self.other_members(owner, self.groups[name], written)
        if name not in self.rows:
            return "no such input"
        row, found = self.rows[name], self.values_of(owner, self.rows[name])
        try:
            same = found == {values.parse(row, written)}
        except values.ValueMistake:  # a word that no scenario can have
            same = False
        return None if same else _shown(row, found)

    def other_members(self, owner: str, members: dict[str, Quantity], written: str) -> str | None:
        chosen = set(members) if written == "all-linear" else {part.strip() for part in written.split(",")}
        found = {member: self.values_of(owner, row) for member, row in members.items()}
        if chosen <= set(members) and all(found[member] == {int(member in chosen)} for member in members):
            return None
        return ", ".join(member for member, here in found.items() if here == {1}) or "none"

    def values_of(self, owner: str, row: Quantity) -> set[float | int | None]:
        """The values of an input in all columns of an owner (a role, process or pool; "" for all).

        What nothing in the scenario reads is as the formulas take it: at its default.
        """
        columns = [
            column
            for column in self.columns.get(row.name, ())
            if owner in ("", column.role, column.process, column.pool)
        ]
        if not columns:
            return {values.parse(row, str(row.default)) if row.default is not None else None}
        return {self.scenario.values[Key(row.name, column)] for column in columns}


def _shown(row: Quantity, found: set[float | int | None]) -> str:
    return " and ".join(sorted(str(values.shown(row, value)) if value is not None else "not an input here" for value in found))
