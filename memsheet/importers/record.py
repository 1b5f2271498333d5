"""A measured record: figures, with where, when and with which versions they were seen."""

from dataclasses import dataclass
from typing import Literal

Statistic = Literal["allocated", "reserved", "device"]
Bound = Literal["", "about", "at least"]
Status = Literal["ok", "out of memory", "error"]

BOUNDS: tuple[Bound, ...] = ("about", "at least")
STATUSES: tuple[Status, ...] = ("ok", "out of memory", "error")
#: The phase of a figure that stands for all of a schedule's instants.
WHOLE_RUN = "run"
#: Keys of a record's settings that name no input: the schedule, and a scenario that a vague source is meant for.
SCHEDULE, SCENARIO = "schedule", "scenario"


@dataclass(frozen=True)
class Figure:
    """One measured value, in bytes, of what one card (or one process on it) held in a phase.

    `phase` names a phase of the record's schedule; WHOLE_RUN covers all of it. `bound` is "about" for a rounded figure
    and "at least" for one that the true value exceeds by an unknown amount. `process` is empty where the source names
    none.
    """

    phase: str
    statistic: Statistic
    bytes: int
    process: str = ""
    note: str = ""
    bound: Bound = ""


@dataclass(frozen=True)
class Record:
    """What one source measured in one configuration.

    `settings` says the configuration in the words of a scenario file: {"model": "llama-7b", "critic.method": "lora"},
    with the schedule's name under SCHEDULE; what the source does not say is not there. `where` is the GPU and host.
    """

    name: str
    title: str
    source: str
    where: str
    when: str
    versions: dict[str, str]
    settings: dict[str, str]
    figures: tuple[Figure, ...]
    note: str = ""
    status: Status = "ok"
