"""What changed between two scenarios, term by term: inputs, headline, and what is on the tightest card at each instant."""

import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from . import nodes, terminal
from .model import Column, Key
from .quantity import Quantity
from .scenario import Scenario
from .units import Unit, byte
from .values import shown

#: How many of an instant's changes a terminal shows; --json has them all.
SHOWN = 3
WIDTH = 110


@dataclass(frozen=True)
class Change:
    """A quantity that differs. `a` and `b` are its values, words as words; None where a scenario lacks it.

    An input that differs from column to column has {column: value}. `change` is b less a, in the quantity's unit, with
    what is lacking counted as nothing; None for words and for inputs.
    """

    quantity: str
    place: str
    label: str
    unit: str
    a: Any
    b: Any
    change: float | None


@dataclass(frozen=True)
class Side:
    """One of the two scenarios: its tightest card, and the instant at which that is tightest.

    `beside` is what the peak has beside the components: the allocator's rest, the CUDA context, buffers, in bytes.
    """

    name: str
    title: str
    card: str
    instant: str
    peak: float
    beside: float


@dataclass(frozen=True)
class Difference:
    """`at_peak` compares components at each scenario's own peak, `instants` at each instant that both have: the largest
    change first.

    `only_a` and `only_b` are the rows, roles, cards and instants that the other scenario lacks, by kind.
    """

    a: Side
    b: Side
    inputs: tuple[Change, ...]
    headline: tuple[Change, ...]
    at_peak: tuple[Change, ...]
    instants: dict[str, tuple[Change, ...]]
    only_a: dict[str, tuple[str, ...]]
    only_b: dict[str, tuple[str, ...]]


def diff(a: Scenario, b: Scenario) -> Difference:
    """Compare two scenarios. Sizes are bytes; components are those of each scenario's tightest card."""
    card_a, card_b = a.tightest_card(), b.tightest_card()
    peak_a, peak_b = _peak_instant(a, card_a), _peak_instant(b, card_b)
    names_b = {instant.name for instant in b.model.layout.instants}
    names = [instant.name for instant in a.model.layout.instants if instant.name in names_b]
    changes = {name: _changes(_components(a, card_a, name), _components(b, card_b, name)) for name in names}
    return Difference(
        _side(a, card_a, peak_a), _side(b, card_b, peak_b), tuple(_inputs(a, b)), tuple(_headline(a, card_a, b, card_b)),
        _changes(_components(a, card_a, peak_a), _components(b, card_b, peak_b)),
        {name: found for name, found in changes.items() if found}, _lacking(a, b), _lacking(b, a),
    )  # fmt: skip


def _side(scenario: Scenario, card: Column, instant: str) -> Side:
    peak = float(scenario.headline("peak", card))
    beside = peak - sum(float(value) for _, value in _components(scenario, card, instant).values())
    return Side(scenario.name, scenario.title, str(card), instant, peak, beside)


def _inputs(a: Scenario, b: Scenario) -> Iterable[Change]:
    """Inputs that both scenarios read and that differ. A catalogue's figure differs by its option, which is named."""
    stated = {key.row for scenario in (a, b) for key, cell in scenario.model.cells.items() if cell.expression is None}
    in_a, in_b = _given(a), _given(b)
    for row in in_a:
        if row in in_b and row in stated and in_a[row] != in_b[row]:
            quantity = a.model.declaration[row]
            yield Change(row, "", quantity.label, quantity.unit.name, in_a[row], in_b[row], None)


def _given(scenario: Scenario) -> dict[str, Any]:
    """Row -> value of everything that is not worked out by a formula; {column: value} where its columns differ."""
    found: dict[str, dict[str, Any]] = {}
    for key, cell in scenario.model.cells.items():
        if cell.expression is None or isinstance(cell.expression, nodes.Lookup):
            place = key.column.role or key.column.process or key.column.pool
            found.setdefault(key.row, {})[place] = shown(cell.quantity, scenario.values[key])
    return {row: values if len(set(values.values())) > 1 else next(iter(values.values())) for row, values in found.items()}


def _headline(a: Scenario, card_a: Column, b: Scenario, card_b: Column) -> Iterable[Change]:
    for meaning, row in a.model.declaration.headline.items():
        in_a, in_b = a.headline(meaning, card_a), b.headline(meaning, card_b)
        if in_a != in_b:
            yield _change(a.model.declaration[row], "", in_a, in_b)


def _change(quantity: Quantity, place: str, a: Any, b: Any) -> Change:
    change = None if isinstance(a, str) or isinstance(b, str) else (b or 0) - (a or 0)
    return Change(quantity.name, place, quantity.label, quantity.unit.name, a, b, change)


def _peak_instant(scenario: Scenario, card: Column) -> str:
    """The name of the instant at which a card is tightest."""
    row = scenario.model.declaration.headline["peak_instant"]
    cell = scenario.model.cells[Key(row, card)]
    assert isinstance(cell.expression, nodes.NameOfHighest)
    cells = cell.refs[cell.expression.args[0]]
    assert not isinstance(cells, Key)
    return max(cells, key=scenario.values.__getitem__).column.instant


#: (row, role) -> the row, and what the role holds of it, in bytes.
Components = dict[tuple[str, str], tuple[Quantity, float]]


def _components(scenario: Scenario, card: Column, instant: str) -> Components:
    return {
        (key.row, key.column.role): (cell.quantity, scenario.values[key])
        for key, cell in scenario.model.cells.items()
        if key.column.role and key.column.instant == instant and (key.column.pool, key.column.stage) == (card.pool, card.stage)
    }


def _changes(a: Components, b: Components) -> tuple[Change, ...]:
    found = []
    for row, role in dict.fromkeys((*a, *b)):
        quantity, _ = a.get((row, role)) or b[row, role]
        in_a, in_b = (side[row, role][1] if (row, role) in side else None for side in (a, b))
        if (in_a or 0) != (in_b or 0):
            found.append(_change(quantity, role, in_a, in_b))
    return tuple(sorted(found, key=lambda change: -abs(change.change or 0)))


def _lacking(a: Scenario, b: Scenario) -> dict[str, tuple[str, ...]]:
    """What only the first has."""
    kinds = [
        {
            "roles": [role.name for role in scenario.model.layout.roles],
            "cards": [str(card) for card in scenario.model.layout.cards],
            "instants": [instant.name for instant in scenario.model.layout.instants],
            "quantities": list(dict.fromkeys(key.row for key in scenario.model.cells)),
        }
        for scenario in (a, b)
    ]
    found = {kind: tuple(name for name in names if name not in kinds[1][kind]) for kind, names in kinds[0].items()}
    return {kind: names for kind, names in found.items() if names}


def as_dict(difference: Difference) -> dict[str, Any]:
    """A difference for --json; sizes are bytes."""
    return asdict(difference)


def render(difference: Difference, *, colour: bool) -> str:
    """A difference as a reader sees it in a terminal."""
    a, b = difference.a, difference.b
    lines = [f"{letter}  {terminal.printable(side.name)}: {terminal.printable(side.title)}" for letter, side in (("A", a), ("B", b))]
    if not (difference.inputs or difference.headline or difference.instants or difference.only_a or difference.only_b):
        return "\n".join([*lines, "", "No difference."])

    def section(title: str, text: str) -> None:
        lines.extend(["", terminal.paint(title, "bold", colour), "", text])

    if difference.inputs:
        rows = [[change.quantity, _text(change, change.a), _text(change, change.b), change.label] for change in difference.inputs]
        section("Inputs that differ", terminal.table(rows, ["input", "A", "B", "what it is"]))
    if difference.headline:
        cards = "" if a.card == b.card else f" (A: {a.card}, B: {b.card})"
        rows = [[change.label, *_values(change)] for change in difference.headline]
        section(f"Headline of the tightest card{cards}", terminal.table(rows, ["", "A", "B", "change"], "lrrr"))
    if difference.at_peak:
        rows = [[change.quantity, change.place, *_values(change)] for change in difference.at_peak]
        rows.append(["beside the components", "", *_sizes(a.beside, b.beside)])
        rows.append(["peak", "", *_sizes(a.peak, b.peak)])
        when = a.instant if a.instant == b.instant else f"{a.instant} in A, {b.instant} in B"
        section(f"At the peak ({when}), largest change first", terminal.table(rows, ["component", "of", "A", "B", "change"], "llrrr"))
    if difference.instants:
        rows = [[name, *_instant(changes)] for name, changes in difference.instants.items()]
        title = "At each instant that both have: components on the card, largest change first"
        section(title, terminal.table(rows, ["instant", "change", "of which"], "lrl"))
    for letter, only in (("A", difference.only_a), ("B", difference.only_b)):
        if only:
            text = [
                textwrap.fill(f"{kind}: {', '.join(names)}", WIDTH, initial_indent="  ", subsequent_indent="    ")
                for kind, names in only.items()
            ]
            section(f"Only in {letter}", "\n".join(text))
    return "\n".join(lines)


def _unit(change: Change) -> Unit:
    return byte if change.unit == byte.name else Unit(change.unit, 0)


def _text(change: Change, value: Any) -> str:
    if isinstance(value, dict):
        groups: dict[Any, list[str]] = {}
        for place, found in value.items():
            groups.setdefault(found, []).append(place)
        return "; ".join(f"{', '.join(places)}: {_text(change, found)}" for found, places in groups.items())
    return "-" if value is None else value if isinstance(value, str) else terminal.figure(value, _unit(change))


def _values(change: Change) -> list[str]:
    signed = "" if change.change is None else terminal.change(change.change, _unit(change))
    return [_text(change, change.a), _text(change, change.b), signed]


def _sizes(a: float, b: float) -> list[str]:
    return [terminal.figure(a, byte), terminal.figure(b, byte), terminal.change(b - a, byte)]


def _instant(changes: tuple[Change, ...]) -> list[str]:
    """The sum of an instant's changes, and the largest of them."""
    largest = [f"{change.quantity}{f' of {change.place}' if change.place else ''} {_values(change)[2]}" for change in changes[:SHOWN]]
    more = [f"and {len(changes) - SHOWN} more"] if len(changes) > SHOWN else []
    return [terminal.change(sum(change.change or 0 for change in changes), byte), "; ".join(largest + more)]
