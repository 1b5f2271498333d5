r"""LaTeX, for amsmath: `\frac{e \cdot P_t}{F_w}`, or the same line with the numbers put in."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import sympy

from .. import nodes
from ..model import Cell, Key, Model
from ..quantity import LOOKUPS, TABLE, Quantity, quantity_of
from .base import Filler, Slot, inverse, is_reciprocal, lookup_number, split_fraction
from .words import Words, name_of

SIGNS = {"==": "=", "!=": r"\ne", "<=": r"\le", ">=": r"\ge"}
RANGES = {"component": "components", "role": "roles", "process": "processes", "instant": "instants", "card": "cards"}
_SPECIAL = re.compile(r"[\\{}$&#^_~%]")


class Latex(Words):
    """A formula in mathematical notation; what stands for a cell is up to the filler: `symbols` or `numbers`."""

    plus, minus, times = " + ", " - ", r" \cdot "
    both, either, never = r" \land ", r" \lor ", r"\lnot "

    def word(self, word: str) -> str:
        return text(word)

    def branch(self, node: sympy.Basic) -> str:
        return super(Words, self).branch(node)  # a word needs no quotation marks here

    def bracket(self, inner: str) -> str:
        return rf"\left({inner}\right)"

    def power(self, base: str, exponent: str) -> str:
        return f"{{{base}}}^{{{exponent}}}"

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left} {SIGNS.get(sign, sign)} {right}"

    def answer(self, option: str, sign: str, word: str) -> str:
        return self.relation(option, sign, word)

    def one_of(self, option: str, words: list[str]) -> str:
        return rf"{option} \in \{{{', '.join(words)}\}}"

    def _print_Integer(self, node: sympy.Integer) -> str:
        return str(node.p)

    def _print_Float(self, node: sympy.Float) -> str:
        mantissa, _, exponent = f"{float(node):.12g}".partition("e")
        return mantissa + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")

    def _print_Rational(self, node: sympy.Rational) -> str:
        return rf"{'-' if node.p < 0 else ''}\frac{{{abs(node.p)}}}{{{node.q}}}"

    def _print_Mul(self, node: sympy.Mul) -> str:
        top, bottom = split_fraction(node)
        if not bottom or node.args[0] == -1:
            return super()._print_Mul(node)
        return rf"\frac{{{self.product(top)}}}{{{self.product(bottom)}}}"

    def product(self, factors: list[sympy.Expr]) -> str:
        # One factor needs no brackets: the line of the fraction does that.
        return str(self._print(factors[0])) if len(factors) == 1 else super().product(factors)

    def _print_Pow(self, node: sympy.Pow) -> str:
        if is_reciprocal(node):
            return rf"\frac{{1}}{{{self._print(inverse(node))}}}"
        return super()._print_Pow(node)

    def _print_Max(self, node: sympy.Max) -> str:
        return r"\max" + self.bracket(self.stringify(node.args, ", "))

    def _print_Min(self, node: sympy.Min) -> str:
        return r"\min" + self.bracket(self.stringify(node.args, ", "))

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return rf"\left\lceil {self._print(node.args[0])} \right\rceil"

    def _print_floor(self, node: sympy.floor) -> str:
        return rf"\left\lfloor {self._print(node.args[0])} \right\rfloor"

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, otherwise = self.cases(node)
        lines = [rf"{value} & \text{{if }} {condition}" for condition, value in tests]
        lines.append(rf"{otherwise} & \text{{otherwise}}")
        whole = r"\begin{cases} " + r" \\ ".join(lines) + r" \end{cases}"
        return whole if node is self._whole else self.bracket(whole)

    def _print_Total(self, node: nodes.Total) -> str:
        whole = self.slot("sum", node.args[0])
        return whole if node is self._whole else self.bracket(whole)

    def _print_Highest(self, node: nodes.Highest) -> str:
        return r"\max" + self.slot("range", node.args[0])

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return rf"{self.slot('list', other)} \text{{ at }} \operatorname{{arg\,max}}{self.slot('range', cells)}"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        return rf"\operatorname{{arg\,max}}{self.slot('range', node.args[0])}"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        return rf"{self.slot('values', lookup_number(node))} \text{{ for }} {self._print(node.args[0])}"


def text(words: str) -> str:
    r"""Words in a formula: `\text{…}`."""
    return rf"\text{{{_SPECIAL.sub(_escaped, words)}}}"


def _escaped(found: re.Match[str]) -> str:
    names = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    return names.get(found[0], "\\" + found[0])


def symbol(quantity: Quantity) -> str:
    """A quantity's symbol; its name where it has none."""
    return quantity.tex or text(name_of(quantity))


def symbols(slot: Slot, cell: Cell) -> str:
    """Fills slots with symbols; one that reads another column has that column's name above it."""
    if slot.kind == "values":
        catalogue, column = LOOKUPS[slot.subject]  # type: ignore[index]
        return text(f"{column.replace('_', ' ')} in catalogue {catalogue.name}")
    assert isinstance(slot.subject, sympy.Symbol)
    entry = TABLE[slot.subject]
    if isinstance(entry, Quantity):
        return symbol(entry)
    if entry.target is None:
        return (r"\sum " if slot.kind == "sum" else " ") + text(RANGES[entry.every])
    shown = symbol(quantity_of(entry.target))
    if entry.every:
        cells = f"_{{{text(RANGES[entry.every])}}}"
        if slot.kind == "list":
            return f"{{{shown}}}{cells}"
        return (r"\sum" if slot.kind == "sum" else "") + f"{cells} {shown}"
    whose = "before" if entry.previous else entry.role or entry.instant.replace("_", " ")
    return (f"{{{shown}}}" if "^" in shown else shown) + f"^{{{text(whose)}}}"


def numbers(model: Model, values: Mapping[Key, Any], text_of: Callable[[Quantity, Any], str]) -> Filler:
    """Fills slots with values, units in roman type; an option gives its word."""

    def value(key: Key) -> str:
        quantity, found = model.cells[key].quantity, values[key]
        shown = text_of(quantity, found)
        if quantity.choices or isinstance(found, str):
            return text(shown)
        number, _, unit = shown.partition(" ")
        shown = number.replace(",", "{,}") + (rf"\,{text(unit)}" if unit else "")
        return rf"\left({shown}\right)" if found < 0 else shown

    def fill(slot: Slot, cell: Cell) -> str:
        if slot.kind == "values":
            return symbols(slot, cell)
        target = cell.refs[slot.subject]  # type: ignore[index]
        if isinstance(target, Key):
            return value(target)
        return " + ".join(map(value, target)) if slot.kind == "sum" else rf"\left({', '.join(map(value, target))}\right)"

    return fill
