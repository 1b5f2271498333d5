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
from typing import Annotated

import pydantic

from . import chapters as formula_chapters
from . import evaluate, layers, schedule, values
from .house import folder
from .layers import names as names
from .model import Column, Key, Layout, Model, Role, lower
from .quantity import Declaration
from .reader import InputError, Mapping, Mistake, Place, Text, quoted
from .schedule import Schedule
from .statements import Statements

#: pydantic's name of a mistake -> what to do.
NEEDS = {
    "dict_type": "`name: value` lines", "list_type": "a list of texts: [a, b]",
    "string_type": "a text", "string_pattern_mismatch": "a text",
}  # fmt: skip
NOT_COVERED = "not covered"
Sentence = Annotated[str, pydantic.Field(max_length=1000)]


class _File(pydantic.BaseModel):
    """The shape of a scenario file. What its inputs may be is decided by the declarations."""

    model_config = pydantic.ConfigDict(extra="forbid")

    title: str = pydantic.Field(min_length=1, max_length=200, pattern=r"\S")
    description: str = pydantic.Field(default="", max_length=4000)
    schedule: str
    assumptions: list[Sentence] = pydantic.Field(default=[], max_length=100)
    inputs: dict[str, object] = {}
    roles: dict[str, dict[str, object]] = {}
    processes: dict[str, dict[str, object]] = {}
    pools: dict[str, dict[str, object]] = {}


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
    def evaluator(self) -> evaluate.Evaluator:
        """Every cell as a function of the inputs, for a look at other inputs of the same shape."""
        return evaluate.scalar(self.model)

    @cached_property
    def values(self) -> dict[Key, evaluate.Value]:
        """The value of every cell."""
        return self.evaluator(self.inputs)

    def verdict(self) -> str:
        """The worst verdict of any card; "not covered" where the formulas do not hold."""
        return str(self.worst("verdict"))

    def worst(self, meaning: str) -> evaluate.Value:
        """What a headline row says of the tightest card."""
        return self.headline(meaning, self.tightest_card())

    def tightest_card(self) -> Column:
        """The card with the worst verdict; of several, the one with the least room."""

        def room(card: Column) -> tuple[float, float]:
            return self.values[self._answer("verdict", card)], self.values[self._answer("headroom", card)]

        return min(self.model.layout.cards, key=room)

    def gpu(self, card: Column) -> str:
        """The word of the card's GPU; "a card of its own" where the scenario states its memory instead."""
        row = self.model.declaration.structure["gpu"]
        key = Key(row, card)
        return str(values.shown(self.model.cells[key].quantity, self.values[key])) if key in self.model.cells else "a card of its own"

    def headline(self, meaning: str, card: Column) -> evaluate.Value:
        """A headline row's value for a card, words as words."""
        if meaning == "verdict" and self.refusals():
            return NOT_COVERED
        key = self._answer(meaning, card)
        return values.shown(self.model.cells[key].quantity, self.values[key])

    def _answer(self, meaning: str, card: Column) -> Key:
        """A headline row's cell for a card, or the scenario's only one."""
        keys = self.model.headline(meaning)
        return next((key for key in keys if key.column == card), keys[0])

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
    built_in = formula_chapters.load(folder("formulas"))
    return built_in if extra is None else built_in.followed_by(formula_chapters.load(extra, "memsheet_user_formulas"))


def load(
    name: str, settings: tuple[tuple[str, str], ...] = (), chapters: Declaration | None = None,
) -> Scenario:  # fmt: skip
    """Load a scenario by file or built-in name, with `settings` (key, value) laid over it.

    A key is an input's name, or "actor.lora_rank" for one role, process or pool. Raises InputError with all mistakes.
    """
    return build(layers.read(name, settings), Path(name).stem, chapters or declaration())


def build(tree: Mapping, name: str, chapters: Declaration) -> Scenario:
    """A scenario from its merged tree. Raises InputError with all mistakes."""
    return _Builder(tree, name, chapters).run()


class _Builder:
    def __init__(self, tree: Mapping, name: str, chapters: Declaration) -> None:
        self.tree, self.name, self.chapters = tree, name, chapters
        self.mistakes: list[Mistake] = []

    def run(self) -> Scenario:
        file, timeline = self.shape(), self.timeline()
        stated = Statements(self.tree, self.chapters, timeline, self.wrong)
        self.stop_at_mistakes()
        assert file is not None and timeline is not None
        model = lower(self.chapters, self.layout(timeline, stated), lambda quantity, column: stated.at(quantity, column) is not None)
        inputs = self.input_values(model, stated)
        stated.refuse_unread(model)
        self.stop_at_mistakes()
        places = {key: found[1] for key, cell in model.inputs.items() if (found := stated.at(cell.quantity, key.column))}
        names = frozenset(name for _, name in stated.found)
        return Scenario(self.name, file.title, file.description, tuple(file.assumptions), timeline, model, inputs, names, places)

    def wrong(self, place: Place, message: str) -> None:
        self.mistakes.append(Mistake(place, message))

    def stop_at_mistakes(self) -> None:
        if self.mistakes:
            raise InputError(list(dict.fromkeys(self.mistakes)))

    def shape(self) -> _File | None:
        try:
            return _File.model_validate(self.tree.plain())
        except pydantic.ValidationError as error:
            for problem in error.errors():
                self.wrong(self.tree.find(problem["loc"]), self.explain(problem["loc"], problem["type"], problem["msg"]))
            return None

    def explain(self, path: tuple[object, ...], kind: str, message: str) -> str:
        what = ".".join(map(str, path))
        if kind == "extra_forbidden":
            hint = values.nearest(what, _File.model_fields) or (" Write it under inputs:" if what in self.chapters.rows else "")
            return f"a scenario has no {quoted(what)}.{hint}"
        if kind == "missing":
            return f"{what} is missing" + (": extend a base scenario, such as base/training, that names one" if what == "schedule" else "")
        if kind in NEEDS:
            return f"{what} needs {NEEDS[kind]}"
        return f"{what}: {message[0].lower()}{message[1:]}"

    def timeline(self) -> Schedule | None:
        node = self.tree.items.get("schedule")
        if not isinstance(node, Text):
            return None
        known = {path.stem: path for path in sorted((folder("scenarios") / "schedules").glob("*.yaml"))}
        if node.text in known:
            return schedule.load(known[node.text], self.chapters)
        hint = f"({', '.join(known)}).{values.nearest(node.text, known)}"
        self.wrong(node.place, f"no schedule is called {quoted(node.text)} {hint}")
        return None

    def layout(self, timeline: Schedule, stated: Statements) -> Layout:
        roles = tuple(Role(role, stated.pool(role), process) for role, process in timeline.roles.items())
        staged = set()
        if stages := self.chapters.structure.get("stages"):
            for role in roles:
                found = stated.at(self.chapters[stages], Column(role.name, role.pool, role.process))
                if found and found[0] > 1:
                    staged.add(role.pool)
        return Layout(roles, timeline.instants, frozenset(staged))

    def input_values(self, model: Model, stated: Statements) -> dict[Key, float | int]:
        found: dict[Key, float | int] = {}
        missing: dict[str, list[str]] = {}
        for key, cell in model.inputs.items():
            quantity = cell.quantity
            if statement := stated.at(quantity, key.column):
                found[key] = statement[0]
            elif quantity.default is not None:
                found[key] = values.parse(quantity, str(quantity.default))
            else:
                missing.setdefault(quantity.name, []).append(key.column.role or key.column.process or key.column.pool)
        for name, owners in missing.items():
            row, whose = self.chapters[name], ", ".join(dict.fromkeys(filter(None, owners)))
            choices = f": one of {', '.join(row.choices)}" if row.choices else f" ({row.unit.name})" if row.unit.name != "1" else ""
            what = f"{name} is missing{f' for {whose}' if whose else ''}: {row.label}{choices}"
            self.wrong(Place(self.tree.place.file, 0), f"{what}. State it under inputs, or with --set {name}=…")
        return found
