"""Scenarios: what people ask. A YAML file that states only its difference from another (`extends`).

    title: LoRA on one card
    extends: base/training
    inputs: {model: llama-7b, gpu: a10g, sequence_length: 2048}
    roles:
      trainer: {method: lora, lora_rank: 64}

Every mistake of a file is found before any is reported.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pydantic

from . import declare, evaluate, reader, schedule, values
from .declare import Declaration, Quantity
from .house import folder
from .model import Column, Key, Layout, Model, Role, lower
from .reader import InputError, Mapping, Mistake, Node, Place, Sequence, Text
from .schedule import Schedule

DEEPEST_EXTENDS = 8


class _File(pydantic.BaseModel):
    """The shape of a scenario file. What its inputs may be is decided by the declarations."""

    model_config = pydantic.ConfigDict(extra="forbid")

    title: str = pydantic.Field(min_length=1, max_length=200)
    description: str = pydantic.Field(default="", max_length=4000)
    schedule: str = pydantic.Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)
    assumptions: list[str] = []
    inputs: dict[str, str | list[str]] = {}
    roles: dict[str, dict[str, str | list[str]]] = {}
    processes: dict[str, dict[str, str | list[str]]] = {}
    pools: dict[str, dict[str, str | list[str]]] = {}


@dataclass(frozen=True)
class Scenario:
    """A scenario, ready to be computed: the cells, and the value of every input.

    `places` says where each input that somebody stated was stated; the others have their default.
    """

    name: str
    title: str
    description: str
    assumptions: tuple[str, ...]
    schedule: Schedule
    model: Model
    inputs: dict[Key, float | int]
    stated: frozenset[str]
    places: dict[Key, Place]

    @cached_property
    def values(self) -> dict[Key, evaluate.Value]:
        """The value of every cell."""
        return evaluate.scalar(self.model)(self.inputs)

    def verdict(self) -> str:
        """The worst verdict of any card."""
        return str(self.worst("verdict"))

    def worst(self, meaning: str) -> evaluate.Value:
        """What a headline row says of the card with the highest peak."""
        return self.headline(meaning, self.tightest_card())

    def tightest_card(self) -> Column:
        """The card with the least room."""
        return min(self.model.layout.cards, key=lambda card: float(self.headline("headroom", card)))

    def gpu(self, card: Column) -> str:
        """The word of the card's GPU; "a card of its own" where the scenario states its memory instead."""
        row = self.model.declaration.structure["gpu"]
        key = Key(row, card)
        return str(values.shown(self.model.cells[key].quantity, self.values[key])) if key in self.model.cells else "a card of its own"

    def headline(self, meaning: str, card: Column) -> evaluate.Value:
        """A headline row's value for a card, words as words."""
        keys = self.model.headline(meaning)
        key = next((key for key in keys if key.column == card), keys[0])
        return values.shown(self.model.cells[key].quantity, self.values[key])

    def refusals(self) -> list[str]:
        """Why the formulas do not cover this configuration; empty where they do."""
        return self._checks("refuse")

    def cautions(self) -> list[str]:
        """Why the estimate is less sure than others."""
        return self._checks("caution")

    def _checks(self, severity: str) -> list[str]:
        found: dict[str, list[str]] = {}
        for key in self.model.checks():
            quantity = self.model.cells[key].quantity
            if quantity.severity == severity and self.values[key]:
                found.setdefault(quantity.label, []).append(str(key.column))
        return [label + (f" ({', '.join(places)})" if any(places) else "") for label, places in found.items()]


@cache
def declaration(extra: Path | None = None) -> Declaration:
    """The built-in chapters, and those of a user's folder behind them. A folder of formulas is code: it is run."""
    built_in = declare.load(folder("formulas"))
    return built_in if extra is None else built_in.followed_by(declare.load(extra, "memsheet_user_formulas"))


def names() -> list[str]:
    """The built-in scenarios (those in folders below are for `extends`)."""
    return sorted(path.stem for path in folder("scenarios").glob("*.yaml"))


def load(
    name: str, settings: tuple[tuple[str, str], ...] = (), chapters: Declaration | None = None,
) -> Scenario:  # fmt: skip
    """Load a scenario by file or built-in name, with `settings` (key, value) laid over it.

    A key is an input's name, or "actor.lora_rank" for one role, process or pool. Raises InputError with all mistakes.
    """
    return build(_overlay(_tree(_find(name, None)), settings), Path(name).stem, chapters or declaration())


def _find(name: str, near: Path | None) -> Path:
    """A scenario's file: a path (beside the file that extends it), or the name of a built-in one."""
    candidates = [Path(name)] if near is None else [near.parent / name, near.parent / f"{name}.yaml"]
    if near is None and not name.endswith((".yaml", ".yml")):
        candidates = []
    candidates.append(folder("scenarios") / f"{name}.yaml")
    for path in candidates:
        if path.is_file():
            return path
    built_in = names()
    raise InputError([Mistake(Place(name, 0), f"no such scenario file or built-in scenario.{values.nearest(name, built_in)} Built in: {', '.join(built_in)}")])


def _tree(path: Path, depth: int = 0) -> Mapping:
    """A file laid over what it extends."""
    tree = reader.read(path, path.name if path.is_relative_to(folder("scenarios")) else str(path))
    base = tree.items.pop("extends", None)
    if base is None:
        return tree
    place = tree.keys.pop("extends")
    if depth == DEEPEST_EXTENDS:
        raise InputError([Mistake(place, f"extends runs through more than {DEEPEST_EXTENDS} files: is there a circle?")])
    if not isinstance(base, Text):
        raise InputError([Mistake(place, "extends needs the name of one scenario")])
    try:
        found = _find(base.text, path)
    except InputError as error:
        raise InputError([Mistake(place, f"extends {base.text!r}: {error.mistakes[0].message}")]) from None
    return _tree(found, depth + 1).overlaid(tree)


def _overlay(tree: Mapping, settings: tuple[tuple[str, str], ...]) -> Mapping:
    for key, text in settings:
        place = Place(f"--set {key}", 0)
        owner, _, name = key.rpartition(".")
        value: Node = Text(text, place)
        if "," in text:
            value = Sequence(tuple(Text(part.strip(), place) for part in text.split(",")), place)
        block = Mapping({name: value}, place, {name: place})
        if owner:
            kind = next((kind for kind in ("processes", "pools") if owner in _block(tree, kind).items), "roles")
            block = Mapping({owner: block}, place, {owner: place})
        else:
            kind = "inputs"
        tree = tree.overlaid(Mapping({kind: block}, place, {kind: place}))
    return tree


def _block(tree: Mapping, key: str) -> Mapping:
    node = tree.items.get(key)
    return node if isinstance(node, Mapping) else Mapping({}, tree.place)


def build(tree: Mapping, name: str, chapters: Declaration) -> Scenario:
    """A scenario from its merged tree. Raises InputError with all mistakes."""
    return _Builder(tree, name, chapters).run()


#: Where an input was stated: "" for the scenario, else the name of a role, process or pool.
Statements = dict[tuple[str, str], tuple[float | int, Place]]


class _Builder:
    def __init__(self, tree: Mapping, name: str, chapters: Declaration) -> None:
        self.tree, self.name, self.chapters = tree, name, chapters
        self.mistakes: list[Mistake] = []
        self.statements: Statements = {}
        self.places: dict[Key, Place] = {}
        self.groups: dict[str, dict[str, Quantity]] = {}
        for row in chapters.rows.values():
            if row.group:
                group, _, member = row.group.partition(".")
                self.groups.setdefault(group, {})[member] = row

    def run(self) -> Scenario:
        file = self.shape()
        timeline = self.timeline(file)
        self.read_inputs(timeline, file)
        self.stop_at_mistakes()
        assert file is not None and timeline is not None
        layout = self.layout(timeline, file)
        model = lower(self.chapters, layout, lambda quantity, column: self.statement(quantity, column) is not None)
        inputs = self.input_values(model)
        self.refuse_unread(model)
        self.stop_at_mistakes()
        return Scenario(
            self.name, file.title, file.description, tuple(file.assumptions), timeline, model, inputs,
            frozenset(name for _, name in self.statements), self.places,
        )  # fmt: skip

    def wrong(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def stop_at_mistakes(self) -> None:
        if self.mistakes:
            raise InputError(sorted(self.mistakes, key=lambda mistake: mistake.place))

    def shape(self) -> _File | None:
        try:
            return _File.model_validate(self.tree.plain())
        except pydantic.ValidationError as error:
            for problem in error.errors():
                path = tuple(step for step in problem["loc"] if step not in ("str", "list[str]"))
                self.wrong(self.tree.find(path), self.explain(path, problem["type"], problem["msg"]))
            self.mistakes = list(dict.fromkeys(self.mistakes))
            return None

    def explain(self, path: tuple[object, ...], kind: str, message: str) -> str:
        what = ".".join(map(str, path))
        if kind == "extra_forbidden":
            hint = values.nearest(what, _File.model_fields) or (" Write it under inputs:" if what in self.chapters.rows else "")
            return f"a scenario has no {what!r}.{hint}"
        if kind == "missing":
            return f"{what} is missing" + (": name one, or extend a base scenario" if what == "schedule" else "")
        return f"{what}: {message[0].lower()}{message[1:]}"

    def timeline(self, file: _File | None) -> Schedule | None:
        if file is None:
            return None
        schedules = folder("scenarios") / "schedules"
        path = schedules / f"{file.schedule}.yaml"
        if not path.is_file():
            known = sorted(found.stem for found in schedules.glob("*.yaml"))
            self.wrong(self.tree.find(("schedule",)), f"no schedule is called {file.schedule!r} ({', '.join(known)}).{values.nearest(file.schedule, known)}")
            return None
        return schedule.load(path, self.chapters)

    def read_inputs(self, timeline: Schedule | None, file: _File | None) -> None:
        """Every stated input, with its place; unknown names and values are noted."""
        self.read_block("", _block(self.tree, "inputs"))
        owners: dict[str, list[str]] = {}
        if timeline is not None:
            owners = {"roles": list(timeline.roles), "processes": list(dict.fromkeys(timeline.roles.values()))}
            owners["pools"] = self.pool_names(timeline)
        for kind in ("roles", "processes", "pools"):
            block = _block(self.tree, kind)
            for owner, node in block.items.items():
                if timeline is not None and owner not in owners[kind]:
                    self.wrong(block.keys[owner], f"the schedule {timeline.name} has no {owner!r} among its {kind} ({', '.join(owners[kind])}).{values.nearest(owner, owners[kind])}")
                elif isinstance(node, Mapping):
                    self.read_block(owner, node)

    def pool_names(self, timeline: Schedule) -> list[str]:
        pools = [node.text for role in timeline.roles if isinstance(node := self.role_block(role).items.get("pool"), Text)]
        return list(dict.fromkeys(["main", *pools]))

    def role_block(self, role: str) -> Mapping:
        return _block(_block(self.tree, "roles"), role)

    def read_block(self, owner: str, block: Mapping) -> None:
        for name, node in block.items.items():
            place = block.keys.get(name, node.place)
            if name == "pool" and owner:
                continue
            if name in self.groups:
                self.read_group(owner, name, node)
            elif name not in self.chapters.rows:
                self.wrong(place, f"nothing is called {name!r}.{values.nearest(name, self.input_names())}")
            elif not (row := self.chapters.rows[name]).is_given:
                self.wrong(place, f"{name} is worked out by a formula ({row.label}) and cannot be set")
            elif not isinstance(node, Text):
                self.wrong(place, f"{name} needs one value")
            else:
                self.state(owner, row, node.text, place)

    def input_names(self) -> list[str]:
        return [name for name, row in self.chapters.rows.items() if row.is_given] + list(self.groups)

    def state(self, owner: str, row: Quantity, text: str, place: Place) -> None:
        try:
            self.statements[owner, row.name] = values.parse(row, text), place
        except values.ValueMistake as error:
            self.wrong(place, str(error))

    def read_group(self, owner: str, name: str, node: Node) -> None:
        """A list of members ([q_proj, v_proj]) or `all-linear`: each member's own input is set to 1 or 0."""
        members = self.groups[name]
        parts = node.items if isinstance(node, Sequence) else (node,)
        chosen = [part.text for part in parts if isinstance(part, Text)]
        if chosen == ["all-linear"]:
            chosen = list(members)
        for part in parts:
            if not isinstance(part, Text) or (part.text not in members and part.text != "all-linear"):
                word = part.text if isinstance(part, Text) else "a list in a list"
                self.wrong(part.place, f"{name}: {word!r} is none of all-linear, {', '.join(members)}.{values.nearest(word, members)}")
        for member, row in members.items():
            self.statements[owner, row.name] = int(member in chosen), node.place

    def layout(self, timeline: Schedule, file: _File) -> Layout:
        roles = tuple(
            Role(role, node.text if isinstance(node := self.role_block(role).items.get("pool"), Text) else "main", process)
            for role, process in timeline.roles.items()
        )
        stages = self.chapters.structure.get("stages")
        staged = frozenset(
            role.pool
            for role in roles
            if stages and (found := self.statements.get((role.name, stages)) or self.statements.get(("", stages))) and found[0] > 1
        )
        return Layout(roles, timeline.instants, staged)

    def statement(self, quantity: Quantity, column: Column) -> tuple[float | int, Place] | None:
        """What the scenario states for a quantity at a column: the most particular statement wins."""
        for owner in (column.role, column.process, column.pool):
            if owner and (found := self.statements.get((owner, quantity.name))):
                return found
        return self.statements.get(("", quantity.name))

    def input_values(self, model: Model) -> dict[Key, float | int]:
        found: dict[Key, float | int] = {}
        missing: dict[str, list[str]] = {}
        for key, cell in model.inputs.items():
            quantity = cell.quantity
            if statement := self.statement(quantity, key.column):
                found[key], self.places[key] = statement
            elif quantity.default is not None:
                found[key] = values.parse(quantity, str(quantity.default))
            else:
                missing.setdefault(quantity.name, []).append(key.column.role or key.column.process or key.column.pool)
        for name, owners in missing.items():
            row, whose = self.chapters[name], ", ".join(dict.fromkeys(filter(None, owners)))
            choices = f": one of {', '.join(row.choices)}" if row.choices else f" ({row.unit.name})" if row.unit.name != "1" else ""
            self.wrong(Place(self.tree.place.file, 0), f"{name} is missing{f' for {whose}' if whose else ''}: {row.label}{choices}")
        return found

    def refuse_unread(self, model: Model) -> None:
        """A setting without effect misleads: say so."""
        read = {(owner, key.row) for key in model.cells for owner in ("", key.column.role, key.column.process, key.column.pool)}
        for (owner, name), (_, place) in self.statements.items():
            if (owner, name) not in read and not self.chapters[name].group:
                whose = f" for {owner}" if owner else ""
                self.wrong(place, f"{name} has no effect{whose}: nothing in this schedule reads it. Remove it")

