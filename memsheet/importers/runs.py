"""Runs of measurements/h200/measure.py: JSON lines, an environment and below it one record a run."""

import json
import re
from pathlib import Path
from typing import Any

import pydantic

from ..reader import InputError, Mistake, Place
from .record import Bound, Figure, Record, Status
from .run_lines import Environment, Phase, Run, line_adapter

LARGEST_FILE = 20_000_000
#: A file of another kind is wrong on every line: nobody reads more than these.
MOST_MISTAKES = 50
#: What torch.cuda.get_device_name says -> the word of our catalogue.
GPUS = {"NVIDIA H200": "h200-141gb"}
STATUSES: dict[str, Status] = {"ok": "ok", "oom": "out of memory", "error": "error"}
MiB, GiB = 2**20, 2**30


def read(path: Path, name: str) -> list[Record]:
    """The records of a file; `name` is how mistakes and records call it ("h200/runs.jsonl" gives "h200-runs-62").

    A record's number is its line's, the first line being 0, as the sources of the formulas count them. Raises
    InputError with the mistakes of all lines: what is no JSON, an unknown key, a value of the wrong type, NaN.
    """
    mistakes: list[Mistake] = []
    records: list[Record] = []
    environment: Environment | None = None
    stem = name.removesuffix(".jsonl").replace("/", "-")
    for number, line in enumerate(_lines(path, name)):
        place = Place(name, number + 1)
        if len(mistakes) >= MOST_MISTAKES:
            mistakes.append(Mistake(place, "reading stops here: too many mistakes"))
            break
        try:
            parsed = _parse(line)
        except ValueError as error:
            mistakes += [Mistake(place, _one_line(message)) for message in _messages(error)]
            continue
        if isinstance(parsed, Environment):
            environment = parsed
        elif environment is None:
            mistakes.append(Mistake(place, "the first line must be the environment, as measure.py writes it"))
            break
        else:
            records.append(_record(parsed, environment, f"{stem}-{number}", f"{place}"))
    if mistakes:
        raise InputError(mistakes)
    return records


def _lines(path: Path, name: str) -> list[bytes]:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError([Mistake(Place(name, 0), f"cannot be read: {error.strerror}")]) from None
    if len(data) > LARGEST_FILE:
        raise InputError([Mistake(Place(name, 0), f"larger than {LARGEST_FILE // 10**6} MB: split it")])
    return data.removesuffix(b"\n").split(b"\n")


def _parse(line: bytes) -> Environment | Run:
    """Raises ValueError (or its child, pydantic's ValidationError) for a line that measure.py would not write."""
    try:
        data = json.loads(line.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return line_adapter.validate_python(data)


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no measured value")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("gives a key twice")
    return found


def _messages(error: ValueError) -> list[str]:
    if isinstance(error, pydantic.ValidationError):
        # The first step of a place is the kind of line, by which pydantic chose among the shapes.
        places = [(".".join(map(str, problem["loc"][1:])), problem["msg"]) for problem in error.errors(include_url=False)]
        return [f"{where}: {message}" if where else message for where, message in places]
    if isinstance(error, json.JSONDecodeError):
        return [f"not valid JSON: {error.msg} at column {error.colno}"]
    if isinstance(error, UnicodeDecodeError):
        return ["is not UTF-8 text"]
    return [str(error)]


def _one_line(text: str) -> str:
    """The start of somebody's text, such as a traceback, without control characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text[:200])
    return line if len(text) <= 200 else line + " …"


def _record(run: Run, environment: Environment, name: str, source: str) -> Record:
    return Record(
        name=name,
        title=run.config.title(),
        source=f"{source}, group {run.group}",
        where=f"{environment.gpu}, {environment.total / GiB:.1f} GiB",
        when="",
        versions={"torch": environment.torch, "transformers": environment.transformers, "peft": environment.peft},
        settings=run.config.settings() | {"gpu": GPUS.get(environment.gpu, environment.gpu)},
        figures=tuple(
            figure
            for phase in run.phases
            for figure in _figures(phase, interrupted=run.status != "ok" and phase is run.phases[-1])
        ),
        note=" ".join(_notes(run, environment)),
        status=STATUSES[run.status],
    )


def _notes(run: Run, environment: Environment) -> list[str]:
    notes = [f"Allocated before the run: {run.baseline_allocated / MiB:.0f} MiB (cuBLAS workspaces that earlier runs left)."]
    if run.config.cap_gib is not None:
        notes.append(f"The process was allowed {run.config.cap_gib:g} GiB.")
    if environment.alloc_conf:
        notes.append(f"Allocator settings: {environment.alloc_conf}.")
    if run.error:
        notes.append(_one_line(run.error))
    return notes + run.config.notes()


def _figures(phase: Phase, *, interrupted: bool) -> list[Figure]:
    """Three figures of a phase. A phase that failed had at least what was there when it failed."""
    # measure.py counts steps from the name's end: forward1.
    name = re.sub(r"(?<=[a-z])(?=\d$)", "_", phase.phase)
    reserved, note = phase.max_reserved, ""
    if name == "end":  # the phase is the emptying itself, so its maximum is what was there before
        reserved, note = phase.reserved, "after the cache was emptied"
    failed = "the phase failed" if interrupted else ""
    bound: Bound = "at least" if interrupted else ""
    device_note = ", ".join(filter(None, ("at the phase's end, not its peak", failed)))
    return [
        Figure(name, "allocated", phase.max_allocated, note=failed, bound=bound),
        Figure(name, "reserved", reserved, note=note or failed, bound=bound),
        Figure(name, "device", phase.device_used, note=device_note, bound=bound),
    ]
