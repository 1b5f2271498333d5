"""What all printers share: a cell's expression is printed once to a template, then filled in for each column.

Printing walks a sympy tree and is slow (50 µs a formula); filling a template in is not. A row of twelve columns is
therefore printed once. A template never depends on addresses, since a reference is always an atom.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, Protocol

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.str import StrPrinter

from .. import nodes
from ..declare import LOOKUPS, quantity_of
from ..model import Cell, Key

_MARK = re.compile("\ue000(\\d+)\ue001")


class PrintError(TypeError):
    """A node that this target has no text for. It is an error, never a guess."""


class Slot(NamedTuple):
    """A gap in a template: what kind of text goes there, and the symbol or catalogue number it is for."""

    kind: str
    subject: sympy.Symbol | int | None = None


class Filler(Protocol):
    """Gives the text of a slot, for one cell."""

    def __call__(self, slot: Slot, cell: Cell) -> str: ...


class Template(NamedTuple):
    """Text, slot, text, slot, … text."""

    texts: tuple[str, ...]
    slots: tuple[Slot, ...]

    def fill(self, cell: Cell, fill: Filler) -> str:
        parts = [self.texts[0]]
        for slot, text in zip(self.slots, self.texts[1:], strict=True):
            parts += (fill(slot, cell), text)
        return "".join(parts)


class Printer(StrPrinter):
    """One class a target. Subclasses give the text of each node; an unknown node raises PrintError."""

    cell_slot = "cell"

    def __init__(self) -> None:
        super().__init__({"order": None})
        self._slots: list[Slot] = []
        self._templates: dict[tuple[sympy.Expr, tuple[str, ...]], Template] = {}
        self._choices: tuple[str, ...] = ()

    def template(self, cell: Cell) -> Template:
        """The template of a cell's expression; printed once for all cells that share it."""
        assert cell.expression is not None
        choices = cell.quantity.choices if isinstance(cell.expression, sympy.Piecewise) else ()
        known = self._templates.get((cell.expression, choices))
        if known is None:
            known = self._templates[cell.expression, choices] = self._print_template(cell.expression, choices)
        return known

    def text(self, cell: Cell, fill: Filler) -> str:
        """The text of a cell's expression with every slot filled in."""
        return self.template(cell).fill(cell, fill)

    def _print_template(self, expression: sympy.Expr, choices: tuple[str, ...]) -> Template:
        self._slots, self._choices = [], choices
        pieces = _MARK.split(self.top(expression))
        return Template(tuple(pieces[::2]), tuple(self._slots[int(number)] for number in pieces[1::2]))

    def top(self, expression: sympy.Expr) -> str:
        return str(self._print(expression))

    def slot(self, kind: str, subject: sympy.Symbol | int | None = None) -> str:
        self._slots.append(Slot(kind, subject))
        return f"\ue000{len(self._slots) - 1}\ue001"

    # --- nodes that read alike in every target that is a line of text ---

    def _print_Symbol(self, node: sympy.Symbol) -> str:
        return self.slot(self.cell_slot, node)

    _print_Dummy = _print_Symbol

    def _print_Add(self, node: sympy.Add, order: object = None) -> str:
        # A positive term first, so that no target meets a leading minus before a power.
        terms = sorted(node.args, key=lambda term: term.could_extract_minus_sign())
        text = self.factor(terms[0], "Add")
        for term in terms[1:]:
            negative = term.could_extract_minus_sign()
            text += (self.minus if negative else self.plus) + self.factor(-term if negative else term, "Mul" if negative else "Add")
        return text

    plus, minus, times, over = "+", "-", "*", "/"

    def _print_Mul(self, node: sympy.Mul) -> str:
        top, bottom = split_fraction(node)
        above = self.times.join(self.factor(part, "Mul") for part in top) or "1"
        if not bottom:
            return above
        below = self.times.join(self.factor(part, "Mul") for part in bottom)
        if len(bottom) > 1:
            below = f"({below})"
        elif bottom[0].is_Mul:
            below = f"({below})" if not below.startswith("(") else below
        return above + self.over + below

    def _print_Pow(self, node: sympy.Pow) -> str:
        if node.exp == -1:
            return f"1{self.over}{self.factor(node.base, 'Pow')}"
        return self.power(self.factor(node.base, "Atom"), self.factor(node.exp, "Atom"))

    def _print_Rational(self, node: sympy.Rational) -> str:
        return f"({node.p}/{node.q})"

    def _print_Float(self, node: sympy.Float) -> str:
        return repr(float(node))

    def _print_Integer(self, node: sympy.Integer) -> str:
        return str(node.p)

    def power(self, base: str, exponent: str) -> str:
        raise NotImplementedError

    def factor(self, node: sympy.Basic, strength: str) -> str:
        """A part, in brackets where it binds less strongly than its surroundings."""
        text = str(self._print(node))
        return f"({text})" if precedence(node) < PRECEDENCE[strength] else text

    # --- what is not known is refused ---

    def emptyPrinter(self, expr: object) -> str:
        raise PrintError(f"{type(self).__name__} has no text for {type(expr).__name__}: {expr}")

    def _print_Basic(self, node: sympy.Basic) -> str:
        return self.emptyPrinter(node)

    _print_Function = _print_Basic
    _print_Relational = _print_Basic
    _print_BooleanFunction = _print_Basic
    _print_And = _print_Or = _print_Not = _print_Xor = _print_Basic

    def words_of(self, node: sympy.Basic) -> tuple[str, ...]:
        """The words of an option, or () for a symbol that is a number."""
        return quantity_of(node).choices if isinstance(node, sympy.Symbol) else ()

    def branch(self, node: sympy.Expr) -> str:
        """A branch of a row whose result is a word prints the word; see `word`."""
        return self.word(self._choices[int(node)]) if self._choices and node.is_Integer else str(self._print(node))

    def word(self, word: str) -> str:
        raise NotImplementedError


def split_fraction(node: sympy.Mul) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """The factors above and below the line, as they stand (as_numer_denom would expand sums)."""
    top: list[sympy.Expr] = []
    bottom: list[sympy.Expr] = []
    for part in node.args:
        if part.is_Pow and part.exp.is_Rational and part.exp.is_negative:
            bottom.append(part.base**-part.exp)
        elif part.is_Rational and not part.is_Integer:
            bottom.append(sympy.Integer(part.q))
            if part.p != 1:
                top.append(sympy.Integer(part.p))
        else:
            top.append(part)
    return top, bottom


def filler(cell_text: Callable[[Key], str], other: Callable[[Slot, Cell], str] | None = None) -> Filler:
    """A filler from a function of keys; `other` answers the slots that are not single cells."""

    def fill(slot: Slot, cell: Cell) -> str:
        if slot.kind == "cell":
            return cell_text(cell.refs[slot.subject])  # type: ignore[index, arg-type]
        if other is None:
            raise PrintError(f"no text for a {slot.kind} slot in {cell.key}")
        return other(slot, cell)

    return fill


def lookup_number(node: nodes.Lookup) -> int:
    """Which catalogue column a Lookup node reads: an index of LOOKUPS."""
    number = int(node.args[1])
    assert number < len(LOOKUPS)
    return number
