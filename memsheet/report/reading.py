"""How the cells of a scenario are named and shown in one language."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from .. import nodes
from ..figures import figure
from ..language import Language
from ..measurements import WHOLE_RUN
from ..model import Column, Key
from ..printers.fillers import WORDS, Names
from ..printers.html import Html
from ..scenario import Scenario
from .taken import range_of

_HOLDER = ("role", "process", "pool")
#: What may set two columns apart, the plainest first.
_APART = (_HOLDER, ("stage",), ("instant",), (*_HOLDER, "stage"), (*_HOLDER, "instant"), Column._fields)


@dataclass(frozen=True)
class Reading:
    """A scenario and the language it is told in."""

    scenario: Scenario
    language: Language

    @cached_property
    def printer(self) -> Html:
        between = {key: self.language.text(f"report.equation_{key}") for key in WORDS}
        label = None if self.language.name == "en" else self.language.label
        return Html(Names(between, label, self.language.word))

    @cached_property
    def instants(self) -> dict[str, str]:
        """Instant -> its label."""
        return {instant.name: self.language.instant(instant.label) for instant in self.scenario.model.layout.instants}

    @cached_property
    def rows(self) -> dict[str, list[Key]]:
        """The cells of each row."""
        found: dict[str, list[Key]] = {}
        for key in self.scenario.model.cells:
            found.setdefault(key.row, []).append(key)
        return found

    def text(self, key: str, **values: object) -> str:
        return self.language.text(f"report.{key}", **values)

    def place(self, column: Column) -> str:
        """Role or process, stage and instant of a column; the pool only where there are several."""
        several = len(self.scenario.model.layout.pools) > 1
        holder = column.role or column.process or (column.pool if several else "")
        parts = [self.language.word(holder), self.stage(column.stage), self.instants.get(column.instant, "")]
        return self.listed(filter(None, parts))

    def listed(self, parts: Iterable[str]) -> str:
        return self.text("comma").join(parts)

    def whose(self, keys: Iterable[Key], others: Iterable[Key]) -> str:
        """What sets some cells of a row apart from its others: roles, stages or instants, as few words as will do."""
        order = self.scenario.model.layout.columns
        columns = sorted((key.column for key in keys), key=lambda column: order.index(column._replace(instant="")))
        rest = [key.column for key in others]
        for fields in _APART:
            mine = dict.fromkeys(_only(column, fields) for column in columns)
            if mine.keys().isdisjoint(_only(column, fields) for column in rest):
                return self.text("semicolon").join(map(self.place, mine)) if rest else ""
        raise AssertionError("two cells of one row stand in one column")

    def stage(self, stage: str) -> str:
        return self.text(f"stage_{stage}") if stage else ""

    def card(self, column: Column) -> str:
        """What a card is called: the pool where there are several, and the stage where there are stages."""
        return self.place(Column(pool=column.pool, stage=column.stage)) or self.text("the_card")

    def phase(self, name: str) -> str:
        """What a measured phase is called: an instant's label where it is one."""
        if name == WHOLE_RUN:
            return self.text("whole_run")
        return self.instants.get(name) or self.language.word(name.replace("_", " "))

    def component(self, key: Key) -> str:
        """A component, and whose it is where the scenario has several roles."""
        label = self.language.label(self.scenario.model.cells[key].quantity)
        if len(self.scenario.model.layout.roles) == 1:
            return label
        return self.text("of_role", label=label, role=self.language.word(key.column.role))

    def value(self, key: Key) -> str:
        """A cell's value with its unit, in words where it is a word (words in cells are English: they are found anew)."""
        cell, value = self.scenario.model.cells[key], self.scenario.values[key]
        if isinstance(cell.expression, nodes.NameOfHighest):
            return self.named(self.winner(range_of(cell, cell.expression.args[0])))
        if isinstance(cell.expression, nodes.AtHighest):
            cells, other = (range_of(cell, symbol) for symbol in cell.expression.args)
            return self.value(other[cells.index(self.winner(cells))])
        if cell.quantity.choices:
            return self.language.word(cell.quantity.choices[int(value)])
        return figure(float(value), cell.quantity.unit)

    def headline(self, meaning: str, card: Column) -> Key:
        """The cell that answers a question about a card."""
        keys = self.scenario.model.headline(meaning)
        return next((key for key in keys if key.column == card), keys[0])

    def amount(self, meaning: str, card: Column) -> float:
        return float(self.scenario.values[self.headline(meaning, card)])

    def gpu_option(self, pool: str) -> Key | None:
        """The input that names a pool's GPU; None where the scenario states what a catalogue would say."""
        row = self.scenario.model.declaration.structure["gpu"]
        return next((key for key in self.scenario.inputs if key.row == row and key.column.pool == pool), None)

    def winner(self, keys: Iterable[Key]) -> Key:
        """The highest of some cells, the first of them."""
        return max(keys, key=self.scenario.values.__getitem__)

    def named(self, key: Key) -> str:
        """A component or an instant, by its label."""
        return self.component(key) if key.column.role else self.instants[key.column.instant]


def _only(column: Column, fields: tuple[str, ...]) -> Column:
    return Column(**{field: getattr(column, field) for field in fields})
