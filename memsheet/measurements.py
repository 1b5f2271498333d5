"""What was measured: every record under measurements/, whatever format its file has."""

import json
from collections.abc import Callable
from pathlib import Path

from . import reader, scenario
from .house import folder
from .importers import runs, written
from .importers.record import BOUNDS, SCENARIO, SCHEDULE, WHOLE_RUN, Bound, Figure, Record, Statistic, Status
from .quantity import Declaration
from .reader import InputError, Mistake, Place

__all__ = [
    "BOUNDS", "SCENARIO", "SCHEDULE", "WHOLE_RUN", "Bound", "Figure", "Record", "Statistic", "Status", "load", "scenario_of",
]  # fmt: skip


def load(root: Path | None = None, chapters: Declaration | None = None) -> list[Record]:
    """All records of a folder and the folders in it (without one: those that memsheet brings).

    `*.yaml` holds records written by hand, `*.jsonl` what measurements/h200/measure.py writes; other files are no
    records. Raises InputError with the mistakes of all files, and for two records of one name.
    """
    root = root or folder("measurements")
    chapters = chapters or scenario.declaration()
    importers: dict[str, Callable[[Path, str], list[Record]]] = {
        ".yaml": lambda path, name: written.read(path, name, chapters),
        ".jsonl": runs.read,
    }
    records: dict[str, Record] = {}
    mistakes: list[Mistake] = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        try:
            found = importers[path.suffix](path, name) if path.suffix in importers and path.is_file() else []
        except InputError as error:
            mistakes += error.mistakes
            continue
        for record in found:
            if record.name in records:
                mistakes.append(Mistake(Place(name, 0), f"the record {record.name} is also in another file: rename one"))
            records[record.name] = record
    if mistakes:
        raise InputError(mistakes)
    return list(records.values())


def scenario_of(record: Record, chapters: Declaration | None = None) -> scenario.Scenario:
    """The scenario that states a record's settings and no more: what the formulas say of the measured configuration.

    Raises InputError where the record leaves out what the formulas need, as the tables of a report do.
    """
    chapters = chapters or scenario.declaration()
    stated: dict[str, dict[str, str | list[str]]] = {"": {}}
    for setting, word in record.settings.items():
        owner, _, name = setting.rpartition(".")
        row = chapters.rows.get(name)
        # A scenario may not state what nothing in its schedule reads; the default says the same.
        if setting not in (SCHEDULE, SCENARIO) and not (row and word == str(row.default)):
            is_list = row is None and "," in word
            stated.setdefault(owner, {})[name] = [part.strip() for part in word.split(",")] if is_list else word
    tree = {"title": record.title, "schedule": record.settings[SCHEDULE], "inputs": stated.pop(""), "roles": stated}
    # JSON is YAML with every word in quotes.
    return scenario.build(reader.parse(json.dumps(tree), record.name), record.name, chapters)
