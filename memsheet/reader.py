"""YAML with line numbers, for files that nobody vouches for.

Every scalar stays the text that was written (so `no` is a word and not False); what it means is decided by the
quantity that it is for. Anchors, aliases and tags are refused: a few lines of them can expand to gigabytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

LARGEST_FILE = 200_000
DEEPEST_NESTING = 12
#: More than these help nobody.
MOST_MISTAKES = 100

#: What no YAML file may hold, and what no value may smuggle in as "\\e": a terminal would obey it.
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def quoted(text: str) -> str:
    """A piece of somebody's text for a message: short, and without control characters."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


@dataclass(frozen=True, order=True)
class Place:
    """File and line of a value; line 0 for a value that came from the command line."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Mistake:
    """One thing that is wrong with an input: where, what, and what to do."""

    place: Place
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class InputError(ValueError):
    """All mistakes of an input, reported together, in the order of its lines."""

    def __init__(self, mistakes: list[Mistake]) -> None:
        self.mistakes = sorted(mistakes, key=lambda mistake: mistake.place)
        if more := self.mistakes[MOST_MISTAKES:]:
            self.mistakes[MOST_MISTAKES:] = [Mistake(more[0].place, f"{len(more)} more mistakes from here on")]
        super().__init__("\n".join(map(str, self.mistakes)))


@dataclass(frozen=True)
class Text:
    """A scalar, as written."""

    text: str
    place: Place

    def plain(self) -> str:
        return self.text


@dataclass(frozen=True)
class Sequence:
    items: tuple["Node", ...]
    place: Place

    def plain(self) -> list[object]:
        return [item.plain() for item in self.items]


@dataclass(frozen=True)
class Mapping:
    """Key -> value; `keys` has the place of each key."""

    items: dict[str, "Node"]
    place: Place
    keys: dict[str, Place] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        return {key: value.plain() for key, value in self.items.items()}

    def overlaid(self, upper: "Mapping") -> "Mapping":
        """This mapping with another laid over it: mappings merge, anything else is replaced."""
        items, keys = dict(self.items), self.keys | upper.keys
        for key, value in upper.items.items():
            below = items.get(key)
            items[key] = below.overlaid(value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
        return Mapping(items, upper.place, keys)

    def find(self, path: tuple[object, ...]) -> Place:
        """The place of the deepest part of a path that exists."""
        node: Node = self
        place = self.place
        for step in path:
            if isinstance(node, Mapping) and step in node.items:
                place, node = node.keys.get(str(step), node.place), node.items[str(step)]
            elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
                node = node.items[step]
                place = node.place
            else:
                break
        return place


Node = Text | Sequence | Mapping


def read(path: Path, name: str = "") -> Mapping:
    """Read a file that holds one mapping. Raises InputError for anything else, naming the line."""
    name = name or str(path)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InputError([Mistake(Place(name, 0), f"cannot be read: {error.strerror}")]) from None
    if len(data) > LARGEST_FILE:
        raise InputError([Mistake(Place(name, 0), f"larger than {LARGEST_FILE // 1000} kB: this is no scenario")])
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError([Mistake(Place(name, 0), "is not UTF-8 text: save it as UTF-8")]) from None
    return parse(text, name)


def parse(text: str, name: str) -> Mapping:
    """As `read`, from text."""
    if found := _CONTROL.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise InputError([Mistake(Place(name, line), f"holds control characters ({found[0]!r}): is this a text file?")])
    builder = _Builder(name)
    try:
        node = builder.document(iter(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "no parser can read it"
        raise InputError([*builder.mistakes, Mistake(Place(name, mark.line + 1 if mark else 0), f"not valid YAML: {problem}")]) from None
    if builder.mistakes:
        raise InputError(builder.mistakes)
    if not isinstance(node, Mapping):
        raise InputError([Mistake(Place(name, 1), "must hold `key: value` lines")])
    return node


class _Builder:
    """Turns the parser's events into nodes, noting every mistake."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.mistakes: list[Mistake] = []

    def document(self, events: Iterator[Any]) -> Node | None:
        node: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.wrong(self.place(event), "a second document begins here: one scenario a file")
                    return node
                node = self.node(next(events), events, 0)
        return node

    def wrong(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def place(self, event: Any) -> Place:
        return Place(self.name, event.start_mark.line + 1)

    def node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        place = self.place(event)
        if event.anchor is not None:
            what = "alias" if isinstance(event, yaml.AliasEvent) else "anchor"
            self.wrong(place, f"the {what} {quoted(event.anchor)} is not allowed: write the value out, or use extends")
        if isinstance(event, yaml.AliasEvent):
            return Text("", place)
        if event.tag is not None and event.tag != "!":
            self.wrong(place, f"the tag {quoted(event.tag)} is not allowed: every value is plain text here")
        if depth > DEEPEST_NESTING:
            raise InputError([*self.mistakes, Mistake(place, f"nested more than {DEEPEST_NESTING} deep")])
        if isinstance(event, yaml.SequenceStartEvent):
            items = []
            while not isinstance(item := next(events), yaml.SequenceEndEvent):
                items.append(self.node(item, events, depth + 1))
            return Sequence(tuple(items), place)
        if isinstance(event, yaml.MappingStartEvent):
            return self.mapping(place, events, depth)
        if _CONTROL.search(event.value):
            self.wrong(place, f"holds control characters: {quoted(event.value)}")
        return Text(event.value, place)

    def mapping(self, place: Place, events: Iterator[Any], depth: int) -> Mapping:
        items: dict[str, Node] = {}
        keys: dict[str, Place] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            key = self.node(event, events, depth + 1)
            value = self.node(next(events), events, depth + 1)
            if not isinstance(key, Text):
                self.wrong(key.place, "a key must be a word")
            elif key.text in items:
                self.wrong(key.place, f"{quoted(key.text)} is given twice, first on line {keys[key.text].line}")
            else:
                items[key.text], keys[key.text] = value, key.place
        return Mapping(items, place, keys)
