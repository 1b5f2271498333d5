"""An estimate for the terminal and for machines: the verdict, and what is on each card at each instant."""

import shutil
import textwrap
from typing import Any

from . import compare, terminal
from .model import Column, Key
from .scenario import Scenario
from .settings import settings
from .units import byte

STATISTICS = (
    "allocated: torch's tensors; reserved: with torch's cache; device: what nvidia-smi shows; "
    "needed: what must be there when torch gives its cache back."
)
#: Where settings come from -> the name of their line.
ORIGINS = {"command line": "Changed", "file": "Asked", "default": "By default"}
WITHOUT_EFFECT = "No effect"
#: Records shown where none has the scenario's settings.
MOST_NEAR = 3
#: The first column of a table is text, the others are numbers.
_RIGHT = "l" + "r" * 30
#: The questions that the headline answers, in the order of the terminal.
CARD_MEANINGS = ("verdict", "peak", "capacity", "headroom", "headroom_share", "typical_peak", "peak_instant", "peak_component", "cards")


def as_dict(scenario: Scenario) -> dict[str, Any]:
    """Everything `memsheet estimate` says, for --json. All sizes are bytes; statistics are named allocated, reserved, device."""
    return {
        "scenario": scenario.name,
        "title": scenario.title,
        "verdict": scenario.verdict(),
        "refused": scenario.refusals(),
        "less_sure": scenario.cautions(),
        "assumptions": list(scenario.assumptions),
        "settings": {one.name: {"value": one.text, "origin": one.origin, "without_effect": one.idle} for one in settings(scenario)},
        "cards": [_card(scenario, card) for card in scenario.model.layout.cards],
        "measured": [
            {
                "record": pair.record.title, "phase": pair.figure.phase, "statistic": pair.figure.statistic, "process": pair.figure.process,
                "bound": pair.figure.bound, "measured": pair.figure.bytes, "predicted": pair.predicted,
            }
            for pair in compare.beside(scenario)
        ],
    }  # fmt: skip


def _card(scenario: Scenario, card: Column) -> dict[str, Any]:
    headline = {meaning: scenario.headline(meaning, card) for meaning in CARD_MEANINGS}
    timeline = [_instant(scenario, card, instant.name) for instant in scenario.model.layout.instants]
    return {"card": str(card), "gpu": scenario.gpu(card), **headline, "timeline": timeline}


def _instant(scenario: Scenario, card: Column, instant: str) -> dict[str, Any]:
    """One row of the timeline: components by role, statistics by process (the device has none)."""
    found: dict[str, Any] = {"instant": instant, "components": {}}
    for key in _at(scenario, card, instant):
        if key.column.role:
            found["components"].setdefault(key.column.role, {})[key.row] = scenario.values[key]
    for statistic, row in scenario.model.declaration.statistics.items():
        cells = {key.column.process: scenario.values[key] for key in _at(scenario, card, instant) if key.row == row}
        found[statistic] = cells.get("", cells)
    return found


def _at(scenario: Scenario, card: Column, instant: str) -> list[Key]:
    return [
        key for key in scenario.model.cells
        if key.column.instant == instant and (key.column.pool, key.column.stage) == (card.pool, card.stage)
    ]  # fmt: skip


def render(scenario: Scenario, *, colour: bool) -> str:
    """The estimate as a reader sees it in a terminal."""
    worst, say = scenario.tightest_card(), scenario.worst
    worst_word, *_, best_word = scenario.model.declaration[scenario.model.declaration.headline["verdict"]].choices
    paint = {best_word: "green", worst_word: "red"}.get(scenario.verdict(), "yellow")
    lines = [terminal.paint(terminal.printable(scenario.title), "bold", colour), ""]
    several = f" on the tightest card, {worst}" if len(scenario.model.layout.cards) > 1 else ""
    gpu = scenario.gpu(worst)
    facts = [
        ("Verdict", terminal.paint(scenario.verdict(), paint, colour) + f", on {say('cards')} x {gpu}"),
        ("Peak", f"{_size(say('peak'))} of {_size(say('capacity'))}{several}, cached memory given back"),
        ("When", f"{say('peak_instant')}; the largest component is {say('peak_component')}"),
        ("Room left", f"{_size(say('headroom'))} ({say('headroom_share'):.1%}); the reserve asked for is {say('reserve'):.0%}"),
    ]
    if scenario.verdict() != worst_word:
        facts.append(("nvidia-smi", f"about {_size(say('typical_peak'))} at the peak, cached memory included"))
    facts += _asked(scenario)
    lines += [_wrapped(f"  {name:<11} ", terminal.printable(text) if name in ORIGINS.values() else text) for name, text in facts]
    lines += ["", _wrapped("  ", f"GiB (2^30 bytes) on card {worst}. {STATISTICS}"), ""]
    lines.append(_timeline(scenario, worst))
    if pairs := compare.beside(scenario):
        lines += ["", "  Measured beside predicted, GiB", "", _measured(pairs)]
    elif misses := compare.near_misses(scenario)[:MOST_NEAR]:
        lines += ["", "  Not measured with these settings. Nearest records:"]
        lines += [_wrapped("    ", _near(miss), "      ") for miss in misses]
    notes = [("less sure", caution) for caution in scenario.cautions()] + [("assumes", text) for text in scenario.assumptions]
    lines += ["", *(_wrapped(f"  {kind}: ", terminal.printable(text), "    ") for kind, text in notes)]
    return "\n".join(lines)


def _size(value: float) -> str:
    return terminal.figure(value, byte)


def _gib(value: float) -> str:
    return f"{value / 2**30:,.2f}"


def _asked(scenario: Scenario) -> list[tuple[str, str]]:
    """The settings behind the answer, by who stated them, and those that change nothing."""
    found, rows = settings(scenario), scenario.model.declaration.rows
    lines = []
    for origin, name in ORIGINS.items():
        # Of the defaults only the words: they say what kind of job this is. --json has the numbers too.
        words = [one for one in found if one.origin == origin and (origin != "default" or rows[one.name].choices)]
        texts = [f"{one.name} {one.text}" for one in words]
        lines.append((name, "; ".join(texts)))
    lines.append((WITHOUT_EFFECT, ", ".join(one.name for one in found if one.idle)))
    return [(name, text) for name, text in lines if text]


def _wrapped(head: str, text: str, indent: str = "") -> str:
    """A paragraph no wider than the terminal, the lines after the first set in under the text."""
    indent = indent or " " * len(head)
    columns = min(shutil.get_terminal_size((100, 24)).columns, 120)
    return textwrap.fill(text, columns, initial_indent=head, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _timeline(scenario: Scenario, card: Column) -> str:
    """Instant x group of components, and the statistics, in GiB; an empty cell is nothing."""
    declaration = scenario.model.declaration
    statistics = {row: statistic for statistic, row in declaration.statistics.items()}
    rows = []
    for instant in scenario.model.layout.instants:
        sums: dict[str, float] = {}
        for key in _at(scenario, card, instant.name):
            group = declaration.series_of(key.row) if key.column.role else statistics.get(key.row)
            if group:
                sums[group] = sums.get(group, 0) + scenario.values[key]
        rows.append((instant.label, sums))
    for key, (_, sums) in zip(scenario.model.peak_range(card), rows, strict=True):
        sums["needed"] = scenario.values[key]
    used = [group for group in [*declaration.series_names(), *declaration.statistics, "needed"] if any(sums.get(group) for _, sums in rows)]
    body = [[label, *(_gib(sums[group]) if sums.get(group) else "" for group in used)] for label, sums in rows]
    return terminal.table(body, ["Instant", *used], _RIGHT)


def _near(miss: compare.NearMiss) -> str:
    differences = "; ".join(f"{one.setting} {one.measured} (here {one.here})" for one in miss.differences)
    return f"{miss.record.title}: {differences}"


def _measured(pairs: list[compare.Pair]) -> str:
    """A table for each record: a row for each phase, measured, predicted and difference for each statistic."""
    tables = []
    for record in {pair.record.name: pair.record for pair in pairs}.values():
        own = [pair for pair in pairs if pair.record is record]
        statistics = list(dict.fromkeys(pair.figure.statistic for pair in own))
        by = {(pair.figure.phase, pair.figure.statistic): pair for pair in own}
        body = []
        for phase in dict.fromkeys(pair.figure.phase for pair in own):
            cells = [by.get((phase, statistic)) for statistic in statistics]
            body.append([phase, *(text for pair in cells for text in _beside(pair))])
        headers = ["Phase", *(text for statistic in statistics for text in (statistic, "predicted", "off"))]
        tables.append(f"{record.title}\n\n{terminal.table(body, headers, _RIGHT)}")
    return "\n\n".join(tables)


def _beside(pair: compare.Pair | None) -> tuple[str, str, str]:
    if pair is None:
        return "", "", ""
    off = "" if pair.error is None else f"{pair.error:+.1%}"
    return f"{pair.figure.bound} {_gib(pair.figure.bytes)}".strip(), _gib(pair.predicted), off
