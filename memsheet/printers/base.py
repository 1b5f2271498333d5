"""What all printers share: a cell's expression is printed once to a template, then filled in for each column.

Printing walks a sympy tree and is slow (50 µs a formula); filling a template in is not. A row of twelve columns is
therefore printed once. A template never depends on addresses, since a reference is always an atom.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import sympy
from sympy.printing.precedence import PRECEDENCE, precedence
from sympy.printing.printer import Printer as SympyPrinter

from .. import nodes
from ..model import Cell
from ..quantity import LOOKUPS, quantity_of

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


class Printer(SympyPrinter):
    """One class a target. Subclasses give the text of each node; an unknown node raises PrintError.

    Not built on sympy's StrPrinter, which has a text for everything: 'oo', 'sin(x)' and 'Sum(…)' would slip through.
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots: list[Slot] = []
        self._templates: dict[tuple[sympy.Basic, tuple[str, ...]], Template] = {}
        self._choices: tuple[str, ...] = ()

    def template(self, cell: Cell) -> Template:
        """The template of a cell's expression; printed once for all cells that share it."""
        assert cell.expression is not None
        key = cell.expression, cell.quantity.choices
        if key not in self._templates:
            self._templates[key] = self._print_template(*key)
        return self._templates[key]

    def text(self, cell: Cell, fill: Filler) -> str:
        """The text of a cell's expression with every slot filled in."""
        return self.template(cell).fill(cell, fill)

    def _print_template(self, expression: sympy.Basic, choices: tuple[str, ...]) -> Template:
        self._slots, self._choices = [], choices
        pieces = _MARK.split(self.top(expression))
        return Template(tuple(pieces[::2]), tuple(self._slots[int(number)] for number in pieces[1::2]))

    def top(self, expression: sympy.Basic) -> str:
        return self.branch(expression)

    def slot(self, kind: str, subject: sympy.Symbol | int | None = None) -> str:
        self._slots.append(Slot(kind, subject))
        return f"\ue000{len(self._slots) - 1}\ue001"

    # --- nodes that read alike in every target that is a line of text ---

    plus, minus, times, over = "+", "-", "*", "/"

    def _print_Symbol(self, node: sympy.Symbol) -> str:
        return self.slot("cell", node)

    def _print_Integer(self, node: sympy.Integer) -> str:
        return str(node.p)

    def _print_Rational(self, node: sympy.Rational) -> str:
        return f"{node.p}{self.over}{node.q}"

    def _print_Float(self, node: sympy.Float) -> str:
        return repr(float(node))

    def _print_Add(self, node: sympy.Add) -> str:
        # A positive term first, so that no target meets a leading minus before a power.
        first, *rest = sorted(node.args, key=is_negative)
        text = self.factor(first, "Add")
        for term in rest:
            text += self.minus + self.factor(negated(term), "Mul") if is_negative(term) else self.plus + self.factor(term, "Add")
        return text

    def _print_Mul(self, node: sympy.Mul) -> str:
        top, bottom = split_fraction(node)
        if not bottom:
            return self.product(top)
        below = self.factor(bottom[0], "Pow") if len(bottom) == 1 else self.bracket(self.product(bottom))
        return self.product(top) + self.over + below

    def product(self, factors: list[sympy.Expr]) -> str:
        """The factors, multiplied; a minus may only stand in front."""
        texts = [self.factor(part, "Mul") for part in factors]
        if factors and is_negative(factors[0]):
            texts[0] = str(self._print(factors[0]))
        return self.times.join(texts) or "1"

    def _print_Pow(self, node: sympy.Pow) -> str:
        if is_reciprocal(node):
            return f"1{self.over}{self.factor(inverse(node), 'Pow')}"
        return self.power(self.factor(node.base, "Atom"), self.factor(node.exp, "Atom"))

    def power(self, base: str, exponent: str) -> str:
        raise NotImplementedError

    def factor(self, node: sympy.Basic, strength: str) -> str:
        """A part, in brackets where it binds less strongly than its surroundings."""
        text = str(self._print(node))
        binds = PRECEDENCE["Mul"] if is_reciprocal(node) else precedence(node)
        return self.bracket(text) if binds < PRECEDENCE[strength] else text

    def bracket(self, inner: str) -> str:
        return f"({inner})"

    def stringify(self, nodes: Iterable[sympy.Basic], between: str) -> str:
        """The texts of several nodes, joined."""
        return between.join(str(self._print(node)) for node in nodes)

    # --- words: inside formulas an option is the number of its word ---

    def cases(self, node: sympy.Piecewise) -> tuple[list[tuple[str, str]], str]:
        """(condition, value) of each branch, and the value otherwise. A row whose result is a word has words for values."""
        *tests, last = node.args
        if last.cond is not sympy.true:
            raise PrintError(f"a Piecewise says nothing where all its conditions fail: {node}")
        return [(str(self._print(pair.cond)), self.branch(pair.expr)) for pair in tests], self.branch(last.expr)

    def branch(self, node: sympy.Basic) -> str:
        """A result: of a row whose result is a word, the word."""
        return self.choice(self._choices, int(node)) if self._choices and node.is_Integer else str(self._print(node))

    def _print_Relational(self, node: sympy.Rel) -> str:
        (left, right), sign = node.args, node.rel_op
        words = self.words_of(left) or self.words_of(right)
        if not words:
            return self.relation(str(self._print(left)), sign, str(self._print(right)))
        if sign not in ("==", "!="):
            raise PrintError(f"words have no order: {node}")
        option, other = (left, right) if self.words_of(left) else (right, left)
        if other.is_Integer and 0 <= other < len(words):
            return self.answer(str(self._print(option)), sign, self.choice(words, int(other)))
        if self.words_of(other) == words:
            return self.answer(str(self._print(option)), sign, str(self._print(other)))
        raise PrintError(f"an option is compared with what is not one of its words: {node}")

    def relation(self, left: str, sign: str, right: str) -> str:
        """Two numbers compared; `sign` is Python's."""
        raise NotImplementedError

    def answer(self, option: str, sign: str, word: str) -> str:
        """An option compared with a word."""
        return self.relation(option, sign, word)

    def words_of(self, node: sympy.Basic) -> tuple[str, ...]:
        """The words of an option, or () for what is a number."""
        return quantity_of(node).choices if isinstance(node, sympy.Symbol) else ()

    def choice(self, words: tuple[str, ...], number: int) -> str:
        return self.word(words[number])

    def word(self, word: str) -> str:
        raise NotImplementedError

    # --- what is not known is refused ---

    def emptyPrinter(self, expr: object) -> str:
        raise PrintError(f"{type(self).__name__} has no text for {type(expr).__name__}: {expr}")


# Parts are taken apart as they stand: sympy's own as_numer_denom, as_coeff_Mul or a simple -x would evaluate them anew.


def split_fraction(node: sympy.Mul) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """The factors above and below the line."""
    top: list[sympy.Expr] = []
    bottom: list[sympy.Expr] = []
    for part in node.args:
        if is_reciprocal(part):
            bottom.append(inverse(part))
        elif part.is_Rational and not part.is_Integer:
            bottom.append(sympy.Integer(part.q))
            if part.p != 1:
                top.append(sympy.Integer(part.p))
        else:
            top.append(part)
    return top, bottom


def is_reciprocal(node: sympy.Basic) -> bool:
    return bool(node.is_Pow and node.exp.is_Rational and node.exp.is_negative)


def inverse(node: sympy.Pow) -> sympy.Expr:
    """What a reciprocal has below the line."""
    return node.base if node.exp == -1 else sympy.Pow(node.base, -node.exp, evaluate=False)


def is_negative(term: sympy.Basic) -> bool:
    """Whether a term has a minus in front. (could_extract_minus_sign also finds one inside a bracket.)"""
    first = term.args[0] if term.is_Mul else term
    return bool(first.is_Number and first.is_negative)


def negated(term: sympy.Expr) -> sympy.Expr:
    """A term without the minus in front."""
    if term.is_Number:
        return -term
    first, *rest = term.args
    return sympy.Mul(*([] if first == -1 else [-first]), *rest, evaluate=False)


def lookup_number(node: nodes.Lookup) -> int:
    """Which catalogue column a Lookup node reads: an index of LOOKUPS."""
    number = int(node.args[1])
    assert number < len(LOOKUPS)
    return number
