"""Records written by hand: YAML with the figures of a report or of a paper.

    source: where all records of the file come from       (so do where, when and versions; a record may state its own)
    records:
      name-of-the-record:
        title: LoRA on one card
        settings: {schedule: training, model: llama-7b, method: lora}
        figures:
          - {phase: load, allocated: 12.1 GiB, reserved: 12.5 GiB}
          - {phase: run, device: at least 80 GiB, note: the table says 80+}
"""

from pathlib import Path

from .. import reader, values
from ..quantity import Declaration
from ..reader import InputError, Mapping, Mistake, Node, Place, Sequence, Text
from .record import BOUNDS, SCENARIO, SCHEDULE, STATUSES, Bound, Figure, Record

SHARED = ("source", "where", "when", "note", "versions")
LONGEST_TEXT = 2000
OF_A_RECORD = ("title", *SHARED, "status", "settings", "figures")


def read(path: Path, name: str, declaration: Declaration) -> list[Record]:
    """The records of a file; `name` is how mistakes call it.

    Raises InputError with every mistake: an unknown key, setting or word, a figure that is no positive number of bytes.
    """
    return _Reader(reader.read(path, name), declaration).run()


class _Reader:
    def __init__(self, tree: Mapping, declaration: Declaration) -> None:
        self.tree, self.declaration = tree, declaration
        self.groups = {row.group.partition(".")[0] for row in declaration.rows.values() if row.group}
        self.mistakes: list[Mistake] = []

    def run(self) -> list[Record]:
        self.only(self.tree, (*SHARED, "records"), "a file of records")
        found = [self.record(name, node) for name, node in self.mapping(self.tree, "records").items.items()]
        if not found:
            self.wrong(self.tree.place, "needs `records:` with at least one record")
        if self.mistakes:
            raise InputError(self.mistakes)
        return found

    def wrong(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def only(self, tree: Mapping, known: tuple[str, ...], what: str) -> None:
        for key, place in tree.keys.items():
            if key not in known:
                self.wrong(place, f"{what} has no {key!r}.{values.nearest(key, known)}")

    def mapping(self, tree: Mapping, key: str) -> Mapping:
        node = tree.items.get(key, Mapping({}, tree.place))
        if isinstance(node, Mapping):
            for name in [name for name in node.items if not name.isprintable()]:
                self.wrong(node.keys[name], f"{name!r}: a key cannot hold control characters")
                del node.items[name]
            return node
        self.wrong(node.place, f"{key} must be given as `name: …` lines")
        return Mapping({}, node.place)

    def text(self, node: Node | None) -> str:
        """A text, "" where there is none. A line break or another control character could garble a terminal."""
        if node is None:
            return ""
        if isinstance(node, Text) and node.text.isprintable() and len(node.text) <= LONGEST_TEXT:
            return node.text
        self.wrong(node.place, f"needs a text of at most {LONGEST_TEXT} characters, without control characters")
        return ""

    def texts(self, tree: Mapping, key: str) -> dict[str, str]:
        return {name: self.text(node) for name, node in self.mapping(tree, key).items.items()}

    def record(self, name: str, node: Node) -> Record:
        if not isinstance(node, Mapping):
            self.wrong(node.place, f"the record {name} must be given as `key: …` lines")
            return Record(name, "", "", "", "", {}, {}, ())
        self.only(node, OF_A_RECORD, "a record")
        shared = {key: self.text(node.items.get(key, self.tree.items.get(key))) for key in ("source", "where", "when")}
        for key, text in (("title", self.text(node.items.get("title"))), ("source", shared["source"])):
            if not text:
                self.wrong(node.place, f"the record {name} needs a {key}")
        status = next((word for word in STATUSES if word == self.text(node.items.get("status", Text("ok", node.place)))), None)
        if status is None:
            self.wrong(node.items["status"].place, f"status is one of {', '.join(STATUSES)}")
        notes = [self.text(tree.items.get("note")) for tree in (self.tree, node)]
        return Record(
            name, self.text(node.items.get("title")), **shared,
            versions=self.texts(self.tree, "versions") | self.texts(node, "versions"),
            settings=self.settings(node), figures=self.figures(node),
            note=" ".join(filter(None, notes)), status=status or "ok",
        )  # fmt: skip

    def settings(self, tree: Mapping) -> dict[str, str]:
        block = self.mapping(tree, "settings")
        if SCHEDULE not in block.items:
            self.wrong(block.place, "settings must name the schedule whose phases were measured")
        found = {}
        for key, node in block.items.items():
            parts = node.items if isinstance(node, Sequence) else (node,)
            found[key] = ", ".join(self.text(part) for part in parts)
            self.check_setting(key, found[key], block.keys[key])
        return found

    def check_setting(self, key: str, written: str, place: Place) -> None:
        """A misspelt setting would only make the record stand beside nothing: say so instead."""
        name = key.rpartition(".")[2]
        if key in (SCHEDULE, SCENARIO) or name in self.groups:
            return
        if name not in self.declaration.rows:
            self.wrong(place, f"nothing is called {name!r}.{values.nearest(name, self.declaration.rows)}")
            return
        try:
            values.parse(self.declaration[name], written)
        except values.ValueMistake as mistake:
            self.wrong(place, str(mistake))

    def figures(self, tree: Mapping) -> tuple[Figure, ...]:
        node = tree.items.get("figures")
        if not isinstance(node, Sequence):
            self.wrong(node.place if node else tree.place, "needs `figures:` with a list of {phase: …, allocated: …}")
            return ()
        return tuple(figure for item in node.items for figure in self.figures_of(item))

    def figures_of(self, node: Node) -> list[Figure]:
        statistics = self.declaration.statistics
        if not isinstance(node, Mapping):
            self.wrong(node.place, "a figure is given as {phase: …, allocated: …}")
            return []
        self.only(node, ("phase", "process", "note", *statistics), "a figure")
        phase, process, note = (self.text(node.items.get(key)) for key in ("phase", "process", "note"))
        if not phase:
            self.wrong(node.place, "a figure needs the phase over which it was measured")
        stated = [statistic for statistic in ("allocated", "reserved", "device") if statistic in node.items]
        if not stated:
            self.wrong(node.place, f"a figure needs one of {', '.join(statistics)}")
        found = []
        for statistic in stated:
            bound, size = self.size(node.items[statistic], statistic)
            found.append(Figure(phase, statistic, size, process, note, bound))  # type: ignore[arg-type]
        return found

    def size(self, node: Node, statistic: str) -> tuple[Bound, int]:
        """The bytes of `about 14 GiB`, and how sure they are."""
        written = self.text(node)
        bound: Bound = next((word for word in BOUNDS if written.startswith(word + " ")), "")
        try:
            size = values.number(self.declaration[self.declaration.statistics[statistic]], written.removeprefix(bound).strip())
            if round(size) <= 0:
                raise values.ValueMistake(f"{statistic}: nothing was measured; leave the figure out")
        except values.ValueMistake as mistake:
            self.wrong(node.place, str(mistake))
            return bound, 0
        return bound, round(size)
