"""Selectors: how a reader names cells: a row, narrowed by what its column is called: "peak", "gradients@critic"."""

from .model import Key
from .reader import InputError, Mistake, Place
from .scenario import Scenario
from .terminal import printable
from .values import nearest


def select(scenario: Scenario, selector: str) -> list[Key]:
    """The cells that a selector means, in the order of the columns. Raises InputError where there are none."""
    model = scenario.model
    name, *places = selector.split("@")
    meanings = model.declaration.statistics | model.declaration.headline
    row = name if name in model.declaration.rows else meanings.get(name, name)
    if row not in model.declaration.rows:
        raise _wrong(selector, f"nothing is called {name!r}.{nearest(name, [*model.declaration.rows, *meanings])}")
    columns = {column: number for number, column in enumerate(model.layout.columns)}
    instants = {instant.name: number for number, instant in enumerate(model.layout.instants)}
    keys = sorted(
        (key for key in model.cells if key.row == row),
        key=lambda key: (columns[key.column._replace(instant="")], instants.get(key.column.instant, 0)),
    )
    if not keys:
        raise _wrong(selector, f"nothing in this scenario reads {row} ({model.declaration[row].label})")
    for place in places:
        keys = _narrowed(keys, place, selector)
    # What a role holds at an instant is a copy, asked for only by naming the instant.
    return [key for key in keys if not key.column.instant] or keys


def _narrowed(keys: list[Key], place: str, selector: str) -> list[Key]:
    fields = ("role", "process", "pool", "stage", "instant")
    for name in fields:
        if place and (found := [key for key in keys if getattr(key.column, name) == place]):
            return found
    known = list(dict.fromkeys(filter(None, (getattr(key.column, name) for name in fields for key in keys))))
    which = f" ({', '.join(known)})" if known else ": it has one value for the whole scenario"
    raise _wrong(selector, f"{keys[0].row} has no column {place!r}{which}.{nearest(place, known)}")


def _wrong(selector: str, message: str) -> InputError:
    return InputError([Mistake(Place(printable(selector), 0), message)])


def selector_of(key: Key) -> str:
    """The selector that means this cell and no other."""
    column = key.column
    return "@".join(filter(None, (key.row, column.role or column.process or column.pool, column.stage, column.instant)))
