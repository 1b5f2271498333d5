"""Schedules: which roles there are, in which process, and what each holds at each instant. Data, not code."""

from dataclasses import dataclass
from pathlib import Path

from . import reader
from .model import Instant
from .quantity import Declaration
from .reader import InputError, Mapping, Mistake, Node, Place, Sequence, Text
from .values import nearest

#: Words of an instant that are not roles.
WORDS = ("label", "empties")


@dataclass(frozen=True)
class Schedule:
    """A timeline: `roles` says which process each role lives in; `phases` which instants a measured phase covers."""

    name: str
    title: str
    source: str
    roles: dict[str, str]
    instants: tuple[Instant, ...]
    phases: dict[str, tuple[str, ...]]


def load(path: Path, declaration: Declaration) -> Schedule:
    """Read a schedule. Raises InputError with every mistake of the file."""
    return _Reader(reader.read(path, path.name), declaration, path.stem).run()


class _Reader:
    def __init__(self, tree: Mapping, declaration: Declaration, name: str) -> None:
        self.tree, self.declaration, self.name = tree, declaration, name
        self.mistakes: list[Mistake] = []

    def run(self) -> Schedule:
        known = ("title", "source", "roles", "instants", "phases")
        for key, place in self.tree.keys.items():
            if key not in known:
                self.wrong(place, f"a schedule has no {key!r}.{nearest(key, known)}")
        given = self.mapping("roles")
        roles = {role: self.text(process, f"the process of {role}") for role, process in given.items.items()}
        for word in roles.keys() & set(WORDS):
            self.wrong(given.keys[word], f"a role cannot be called {word!r}")
        instants = tuple(self.instant(name, node, roles) for name, node in self.mapping("instants").items.items())
        if not instants:
            self.wrong(self.tree.place, "a schedule needs at least one instant")
        names = [instant.name for instant in instants]
        phases = {name: self.words(node, names, "an instant") for name, node in self.mapping("phases", optional=True).items.items()}
        title, source = (self.text(self.tree.items.get(key, Text("", self.tree.place)), key) for key in ("title", "source"))
        if self.mistakes:
            raise InputError(self.mistakes)
        return Schedule(self.name, title, source, roles, instants, {name: (name,) for name in names} | phases)

    def wrong(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def mapping(self, key: str, *, optional: bool = False) -> Mapping:
        node = self.tree.items.get(key)
        if isinstance(node, Mapping):
            return node
        if node is not None or not optional:
            self.wrong(node.place if node else self.tree.place, f"{key} must be given as `name: …` lines")
        return Mapping({}, self.tree.place)

    def text(self, node: Node, what: str) -> str:
        if isinstance(node, Text) and node.text:
            return node.text
        self.wrong(node.place, f"{what} needs a text")
        return ""

    def words(self, node: Node, known: list[str], what: str) -> tuple[str, ...]:
        if not isinstance(node, Sequence):
            self.wrong(node.place, f"needs a list, each the name of {what}: [a, b]")
            return ()
        found = tuple(self.text(item, f"the name of {what}") for item in node.items)
        for number, (item, name) in enumerate(zip(node.items, found, strict=True)):
            if name and name not in known:
                self.wrong(item.place, f"{name!r} is not the name of {what}.{nearest(name, known)}")
            elif name in found[:number]:
                self.wrong(item.place, f"{name} is named twice")
        return found

    def instant(self, name: str, node: Node, roles: dict[str, str]) -> Instant:
        if not isinstance(node, Mapping):
            self.wrong(node.place, f"the instant {name} must say what each role holds")
            return Instant(name, name, {})
        items = dict(node.items)
        label = self.text(items.pop("label"), "label") if "label" in items else name.replace("_", " ")
        empties = self.words(items.pop("empties"), list(roles.values()), "a process") if "empties" in items else ()
        holds = {}
        for role, held in items.items():
            if role not in roles:
                self.wrong(node.keys[role], f"{role!r} is not a role of this schedule.{nearest(role, [*roles, *WORDS])}")
            else:
                holds[role] = self.words(held, self.components(), "a byte quantity")
        return Instant(name, label, holds, empties)

    def components(self) -> list[str]:
        return [name for name, row in self.declaration.rows.items() if row.unit.power == 1 and not row.timed]
