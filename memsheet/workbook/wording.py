"""What a workbook says in one language: fixed texts, labels, and the words that its formulas decide.

The words of an input stay those of scenario files in every language: dropdown, formula and YAML say the same word.
Sheets keep their names too, so that a formula of a user's own works on a workbook in any language.
"""

from dataclasses import dataclass, replace
from functools import cache

import sympy

from ..language import Language
from ..measurements import WHOLE_RUN
from ..model import Cell, Column, Key, Model
from ..printers.excel import Excel
from ..quantity import Quantity, quantity_of


@dataclass(frozen=True)
class Wording:
    """The texts of a workbook."""

    language: Language

    def text(self, key: str, **values: object) -> str:
        return self.language.text(f"workbook.{key}", **values)

    def model(self, model: Model) -> Model:
        """The same cells with labels, instants and decided words in the language.

        A cell that names the highest of a range reads the heads of the sheet, so its labels are what the heads say.
        """
        quantity = cache(self._quantity)
        rows = {name: quantity(row) for name, row in model.declaration.rows.items()}
        instants = tuple(replace(instant, label=self.language.instant(instant.label)) for instant in model.layout.instants)
        told = Model(replace(model.declaration, rows=rows), replace(model.layout, instants=instants), {})
        for key, cell in model.cells.items():
            told.cells[key] = replace(cell, quantity=quantity(cell.quantity), labels=self._labels(told, cell))
        return told

    def _quantity(self, quantity: Quantity) -> Quantity:
        choices = quantity.choices if quantity.is_given else tuple(map(self.language.word, quantity.choices))
        return replace(quantity, label=self.language.label(quantity), choices=choices)

    def _labels(self, told: Model, cell: Cell) -> tuple[str, ...]:
        if not cell.labels or cell.expression is None:
            return ()
        named = cell.refs[cell.expression.args[0]]
        assert not isinstance(named, Key)
        labels = {instant.name: instant.label for instant in told.layout.instants}
        return tuple(
            self.component(told, key.row, key.column.role) if key.column.role else labels.get(key.column.instant) or self.place(key.column)
            for key in named
        )

    def component(self, told: Model, row: str, role: str) -> str:
        """A component by its label, and its role's name where there are several roles."""
        label = told.declaration[row].label
        return self.text("of_role", label=label, role=self.language.word(role)) if len(told.layout.roles) > 1 else label

    def place(self, column: Column) -> str:
        """A role, process or pool and its stage: "actor @ first"; empty for the scenario's own column."""
        return " @ ".join(self.language.word(part) for part in (column.role or column.process or column.pool, column.stage) if part)

    def phase(self, told: Model, name: str) -> str:
        """What a measured phase is called: an instant's label where it is one."""
        if name == WHOLE_RUN:
            return self.text("whole_run")
        labels = {instant.name: instant.label for instant in told.layout.instants}
        return labels.get(name) or self.language.word(name.replace("_", " "))


class Formulas(Excel):
    """Excel's formulas, in which the words that another formula decides are those of the language."""

    def __init__(self, language: Language) -> None:
        super().__init__()
        self.language = language

    def words_of(self, node: sympy.Basic) -> tuple[str, ...]:
        words = super().words_of(node)
        return words if not words or quantity_of(node).is_given else tuple(map(self.language.word, words))
