"""Plain words: `weight width × parameters on rank ÷ weight shards`, or the same line with the numbers put in."""

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from .. import nodes
from ..model import Cell, Key, Model
from ..quantity import LOOKUPS, Quantity
from .base import Filler, Printer, Slot, lookup_number, negated

SIGNS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥"}
POWERS = {"2": "²", "3": "³"}


class Words(Printer):
    """A formula as a sentence; what stands for a cell is up to the filler: `names` or `numbers`."""

    plus, minus, times, over = " + ", " − ", " × ", " ÷ "
    both, either, never = " and ", " or ", "not "

    def __init__(self) -> None:
        super().__init__()
        self._whole: sympy.Basic | None = None

    def top(self, expression: sympy.Basic) -> str:
        self._whole = expression
        return super().top(expression)

    def word(self, word: str) -> str:
        return word

    def branch(self, node: sympy.Basic) -> str:
        text = super().branch(node)
        return f'"{text}"' if self._choices and node.is_Integer else text

    def power(self, base: str, exponent: str) -> str:
        base = base if base.startswith("(") else self.bracket(base)  # a name may be several words
        return base + POWERS.get(exponent, f"^{exponent}")

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left} {SIGNS.get(sign, sign)} {right}"

    def answer(self, option: str, sign: str, word: str) -> str:
        return f"{option} {'is' if sign == '==' else 'is not'} {word}"

    def one_of(self, option: str, words: list[str]) -> str:
        """That an option is one of several words."""
        return f"{option} is {', '.join(words[:-1])} or {words[-1]}"

    def _print_Integer(self, node: sympy.Integer) -> str:
        return f"{node.p:,}".replace("-", "−")

    def _print_Float(self, node: sympy.Float) -> str:
        return f"{float(node):.12g}".replace("-", "−")

    def _print_Mul(self, node: sympy.Mul) -> str:
        if node.args[0] == -1:
            return self.minus.strip() + self.factor(negated(node), "Mul")
        return super()._print_Mul(node)

    def _print_Max(self, node: sympy.Max) -> str:
        return f"the largest of ({self.stringify(node.args, '; ')})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"the smallest of ({self.stringify(node.args, '; ')})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f"round up ({self._print(node.args[0])})"

    def _print_floor(self, node: sympy.floor) -> str:
        return f"round down ({self._print(node.args[0])})"

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, otherwise = self.cases(node)
        text = "".join(f"if {condition}: {value}; " for condition, value in tests) + f"otherwise {otherwise}"
        return text if node is self._whole else self.bracket(text)

    def _print_And(self, node: sympy.And) -> str:
        return self.both.join(
            self.bracket(self._print(part)) if isinstance(part, sympy.Or) else str(self._print(part)) for part in node.args
        )

    def _print_Or(self, node: sympy.Or) -> str:
        asked: dict[sympy.Symbol, list[str]] = {}  # what is asked of one option is asked at once
        others = []
        for part in node.args:
            words = self.words_of(part.args[0]) if isinstance(part, sympy.Eq) else ()
            if words and part.args[1].is_Integer:
                asked.setdefault(part.args[0], []).append(self.choice(words, int(part.args[1])))
            else:
                others.append(self.bracket(self._print(part)) if isinstance(part, sympy.And) else str(self._print(part)))
        options = [
            self.one_of(self._print(option), words) if len(words) > 1 else self.answer(self._print(option), "==", words[0])
            for option, words in asked.items()
        ]
        return self.either.join(options + others)

    def _print_Not(self, node: sympy.Not) -> str:
        return self.never + self.bracket(self._print(node.args[0]))

    def _print_Total(self, node: nodes.Total) -> str:
        return f"the sum of ({self.slot('range', node.args[0])})"

    def _print_Highest(self, node: nodes.Highest) -> str:
        return f"the largest of ({self.slot('range', node.args[0])})"

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return f"({self.slot('range', other)}) where ({self.slot('range', cells)}) is largest"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        return f"the name of the largest of ({self.slot('range', node.args[0])})"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        return f"{self.slot('values', lookup_number(node))} for {self._print(node.args[0])}"


def name_of(quantity: Quantity) -> str:
    """A quantity's name in words."""
    return quantity.name.replace("_", " ")


def names(slot: Slot, cell: Cell) -> str:
    """Fills slots with names; what stands in another column says whose it is."""
    if slot.kind == "values":
        catalogue, column = LOOKUPS[slot.subject]  # type: ignore[index]
        return f"{column.replace('_', ' ')} in catalogue {catalogue.name}"
    target = cell.refs[slot.subject]  # type: ignore[index]
    return reference(target, cell.key) if isinstance(target, Key) else _range(target, cell.key)


def reference(key: Key, reader: Key) -> str:
    """A cell's name in words, as one that stands at another column says it."""
    text = key.row.replace("_", " ")
    if key.column.role not in ("", reader.column.role):
        text += f" of {key.column.role}"
    if key.column.instant not in ("", reader.column.instant):
        text += f" at {key.column.instant.replace('_', ' ')}"
    return text


def _range(keys: tuple[Key, ...], reader: Key) -> str:
    if len(keys) > 1 and len({key.row for key in keys}) == 1:
        row = keys[0].row.replace("_", " ")
        if len({key.column.instant for key in keys}) > 1:
            return f"{row} at every instant"
        column = keys[0].column
        return f"{row} of every {'role' if column.role else 'process' if column.process else 'card'}"
    return "; ".join(reference(key, reader) for key in keys)


def numbers(model: Model, values: Mapping[Key, Any], text_of: Callable[[Quantity, Any], str]) -> Filler:
    """Fills slots with values; an option keeps its name beside its word."""

    def value(key: Key) -> str:
        quantity = model.cells[key].quantity
        text = text_of(quantity, values[key])
        if quantity.choices:
            return f"{name_of(quantity)} ({text})"
        return f"({text})" if isinstance(values[key], (int, float)) and values[key] < 0 else text

    def fill(slot: Slot, cell: Cell) -> str:
        if slot.kind == "values":
            return names(slot, cell)
        target = cell.refs[slot.subject]  # type: ignore[index]
        return value(target) if isinstance(target, Key) else "; ".join(map(value, target))

    return fill
