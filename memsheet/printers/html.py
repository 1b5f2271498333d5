"""HTML: equations as a reader of the report sees them, with symbols or with the numbers put in.

A cell is printed once; what stands in its slots is up to the filler: `Symbols` gives `M = e · P / F`, `Numbers` gives
`2 B · 6 738 415 616 / 4`. Both stand in an element of the class equation, or numbers (templates/equations.css).
"""

import re
from collections.abc import Mapping
from typing import Any

import sympy

from .. import nodes
from ..model import Cell, Key
from .base import Printer, split_fraction
from .fillers import Names, Numbers, Symbols

SIGNS = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "<": "&lt;", ">": "&gt;"}
_BETWEEN_WORDS = re.compile("</u>([ +\u2212=,()·\u2009\u2003]*)<u>")


class Html(Printer):
    """Fractions, powers, cases and sums as HTML spans."""

    plus, minus, times = " + ", " \u2212 ", "\u2009·\u2009"

    def __init__(self, names: Names | None = None) -> None:
        super().__init__()
        self.names = names or Names()
        self._whole: sympy.Basic | None = None

    def symbols(self, cell: Cell) -> str:
        """The right side of a cell's equation, with symbols."""
        return _joined(self.text(cell, Symbols(self.names)))

    def numbers(self, cell: Cell, values: Mapping[Key, Any]) -> str:
        """The same, with the values of the cells that it reads."""
        return _joined(self.text(cell, Numbers(self.names, values)))

    def top(self, expression: sympy.Basic) -> str:
        self._whole = expression
        return super().top(expression)

    def word(self, word: str) -> str:
        return self.names.option(word)

    def power(self, base: str, exponent: str) -> str:
        return f"{base}<sup>{exponent}</sup>"

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left} {SIGNS[sign]} {right}"

    def answer(self, option: str, sign: str, word: str) -> str:
        return f"{option} {self.names.word('is' if sign == '==' else 'is_not')} {word}"

    def _print_Integer(self, node: sympy.Integer) -> str:
        return str(node.p).replace("-", "\u2212")

    def _print_Float(self, node: sympy.Float) -> str:
        return f"{float(node):g}".replace("-", "\u2212")

    def _print_Rational(self, node: sympy.Rational) -> str:
        return _fraction(str(node.p).replace("-", "\u2212"), str(node.q))

    def _print_Pow(self, node: sympy.Pow) -> str:
        return _fraction("1", self._print(node.base)) if node.exp == -1 else super()._print_Pow(node)

    def _print_Mul(self, node: sympy.Mul) -> str:
        sign = ""
        if node.args[0] == -1:
            sign, node = "\u2212", sympy.Mul(*node.args[1:], evaluate=False)
        top, bottom = split_fraction(node)
        return sign + (_fraction(self._alone(top), self._alone(bottom)) if bottom else self.product(top))

    def _alone(self, factors: list[sympy.Expr]) -> str:
        """What stands above or below the line of a fraction, which does the work of brackets."""
        return str(self._print(factors[0])) if len(factors) == 1 else self.product(factors)

    def _print_Max(self, node: sympy.Max) -> str:
        return f"max({self.stringify(node.args, ', ')})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"min({self.stringify(node.args, ', ')})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f'<span class="ceiling">{self._print(node.args[0])}</span>'

    def _print_floor(self, node: sympy.floor) -> str:
        return f'<span class="floor">{self._print(node.args[0])}</span>'

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, otherwise = self.cases(node)
        lines = [f"{value}\u2003{self.names.word('if')} {condition}" for condition, value in tests]
        lines.append(f"{otherwise}\u2003{self.names.word('otherwise')}")
        return f'<span class="cases">{"".join(f"<span>{line}</span>" for line in lines)}</span>'

    def _print_And(self, node: sympy.And) -> str:
        return f" {self.names.word('and')} ".join(
            self.bracket(self._print(part)) if isinstance(part, sympy.Or) else str(self._print(part)) for part in node.args
        )

    def _print_Or(self, node: sympy.Or) -> str:
        either = f" {self.names.word('or')} "
        asked: dict[sympy.Symbol, list[str]] = {}  # what is asked of one option is asked at once
        others = []
        for part in node.args:
            words = self.words_of(part.args[0]) if isinstance(part, sympy.Eq) else ()
            if words and part.args[1].is_Integer:
                asked.setdefault(part.args[0], []).append(self.choice(words, int(part.args[1])))
            else:
                others.append(self.bracket(self._print(part)) if isinstance(part, sympy.And) else str(self._print(part)))
        return either.join([*(self.answer(self._print(option), "==", either.join(words)) for option, words in asked.items()), *others])

    def _print_Not(self, node: sympy.Not) -> str:
        return f"{self.names.word('not')} ({self._print(node.args[0])})"

    def _print_Total(self, node: nodes.Total) -> str:
        return self.slot("sum" if node is self._whole else "sum in brackets", node.args[0])

    def _print_Highest(self, node: nodes.Highest) -> str:
        return self.slot("highest", node.args[0])

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return f"{self.slot('list', other)} {self.names.word('where_highest')} {self.slot('list', cells)}"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        return f"{self.names.word('name_of')} {self.slot('list', node.args[0])}"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        return f"{self.names.word('catalogue')} {self._print(node.args[0])}"


def _joined(text: str) -> str:
    """One pair of tags around neighbouring words and the signs between them."""
    return _BETWEEN_WORDS.sub(r"\1", text)


def _fraction(above: str, below: str) -> str:
    return f'<span class="fraction"><span>{above}</span><span>{below}</span></span>'
