"""Measured values beside the predictions."""

from dataclasses import dataclass

from .. import compare
from ..figures import gib, number
from .reading import Reading


@dataclass(frozen=True)
class Group:
    """The figures of one record: a phase a row; for each statistic measured and predicted (GiB) and the difference.

    `notes` are numbered in the table.
    """

    title: str
    statistics: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    about: tuple[str, ...]


def records(reading: Reading) -> list[Group]:
    """Every record whose settings are the scenario's."""
    groups: dict[str, list[compare.Pair]] = {}
    for pair in compare.beside(reading.scenario):
        groups.setdefault(pair.record.name, []).append(pair)
    return [_group(reading, pairs) for pairs in groups.values()]


def _group(reading: Reading, pairs: list[compare.Pair]) -> Group:
    notes = list(dict.fromkeys(pair.figure.note for pair in pairs if pair.figure.note))
    statistics = list(dict.fromkeys(_statistic(reading, pair) for pair in pairs))
    rows: dict[str, dict[str, tuple[str, str, str]]] = {}
    for pair in pairs:
        rows.setdefault(pair.figure.phase, {})[_statistic(reading, pair)] = _values(reading, pair, notes)
    table = tuple(
        (reading.phase(phase), *(text for statistic in statistics for text in found.get(statistic, ("", "", ""))))
        for phase, found in rows.items()
    )
    record, text = pairs[0].record, reading.text
    versions = [f"{name} {version}" for name, version in record.versions.items()]
    where = reading.listed(filter(None, (record.where, *versions)))
    about = (
        text("record_source", source=record.source),
        text("record_where", where=where) if where else "",
        text("record_when", when=record.when) if record.when else "",
        record.note,
    )
    return Group(record.title, tuple(statistics), table, tuple(notes), tuple(filter(None, about)))


def _statistic(reading: Reading, pair: compare.Pair) -> str:
    return reading.listed(reading.language.word(word) for word in (pair.figure.statistic, pair.figure.process) if word)


def _values(reading: Reading, pair: compare.Pair, notes: list[str]) -> tuple[str, str, str]:
    """Measured, predicted and the difference, as text; a note's number stands behind the measured value."""
    figure, text = pair.figure, reading.text
    bound = {"about": text("bound_about"), "at least": text("bound_at_least")}.get(figure.bound, "")
    mark = f" [{notes.index(figure.note) + 1}]" if figure.note else ""
    if pair.error is None:
        difference = text("holds" if pair.holds else "fails")
    else:
        difference = f"{'+' if pair.error > 0 else ''}{number(round(100 * pair.error, 1), 1)}\u202f%"
    return f"{bound} {gib(figure.bytes)}{mark}".strip(), gib(pair.predicted), difference
