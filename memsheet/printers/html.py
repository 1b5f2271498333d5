"""HTML: equations as a reader of the report sees them, with symbols or with the numbers put in.

A cell is printed once; what stands in its slots is up to the filler: `Symbols` gives `M = e · P / F`, `Numbers` gives
`2 B · 6 738 415 616 / 4`. The classes of the spans are those of templates/equations.css.
"""

import re
from collections.abc import Mapping
from typing import Any

import sympy

from .. import nodes
from ..model import Cell, Key
from .base import Printer, PrintError, split_fraction
from .fillers import Numbers, Symbols, Words

_BETWEEN_SYMBOLS = re.compile("</i>([ +\u2212=,·\u2009]+)<i>")


class Html(Printer):
    """Fractions, powers, cases and sums as HTML spans."""

    plus, minus, times = " + ", " \u2212 ", "\u2009·\u2009"

    def __init__(self, words: Words | None = None) -> None:
        super().__init__()
        self.words = words or Words()
        self._whole: sympy.Basic | None = None

    def symbols(self, cell: Cell) -> str:
        """The right side of a cell's equation, with symbols."""
        return _joined(self.text(cell, Symbols(self.words)))

    def numbers(self, cell: Cell, values: Mapping[Key, Any]) -> str:
        """The same, with the values of the cells that it reads."""
        return self.text(cell, Numbers(self.words, values))

    def top(self, expression: sympy.Expr) -> str:
        self._whole = expression
        return super().top(expression)

    def word(self, word: str) -> str:
        return self.words.option(word)

    def power(self, base: str, exponent: str) -> str:
        return f"{base}<sup>{exponent}</sup>"

    def _print_Pow(self, node: sympy.Pow) -> str:
        return _fraction("1", self._print(node.base)) if node.exp == -1 else super()._print_Pow(node)

    def _print_Mul(self, node: sympy.Mul) -> str:
        sign = ""
        if node.args[0] == -1:
            sign, node = "\u2212", sympy.Mul(*node.args[1:], evaluate=False)
        top, bottom = split_fraction(node)
        return sign + (_fraction(self._product(top), self._product(bottom)) if bottom else self._product(top))

    def _product(self, factors: list[sympy.Expr]) -> str:
        if len(factors) == 1:  # no brackets: the line of the fraction does that
            return str(self._print(factors[0]))
        return self.times.join(self.factor(part, "Mul") for part in factors) or "1"

    def _print_Rational(self, node: sympy.Rational) -> str:
        return _fraction(str(node.p), str(node.q))

    def _print_Float(self, node: sympy.Float) -> str:
        return f"{float(node):g}"

    def _print_Integer(self, node: sympy.Integer) -> str:
        return f"\u2212{-node.p}" if node.p < 0 else str(node.p)

    def _print_Max(self, node: sympy.Max) -> str:
        return f"max({', '.join(map(self._print, node.args))})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"min({', '.join(map(self._print, node.args))})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f'<span class="ceiling">{self._print(node.args[0])}</span>'

    def _print_floor(self, node: sympy.floor) -> str:
        return f'<span class="floor">{self._print(node.args[0])}</span>'

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        between = self.words.between
        lines = []
        for expression, condition in node.args:
            when = between["otherwise"] if condition is sympy.true else f"{between['if']} {self._print(condition)}"
            lines.append(f"<span>{self.branch(expression)}\u2003{when}</span>")
        return f'<span class="cases">{"".join(lines)}</span>'

    def _relation(self, node: sympy.Rel) -> str:
        left, right = node.args
        words = self.words_of(left) or self.words_of(right)
        if words:
            option, number = (right, left) if left.is_Integer else (left, right)
            verb = {"==": "is", "!=": "is_not"}.get(node.rel_op)
            if verb is None or not number.is_Integer:
                raise PrintError(f"Html has no text for this comparison of an option: {node}")
            return f"{self._print(option)} {self.words.between[verb]} {self.word(words[int(number)])}"
        sign = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "<": "&lt;", ">": "&gt;"}[node.rel_op]
        return f"{self._print(left)} {sign} {self._print(right)}"

    _print_Relational = _print_Equality = _print_Unequality = _relation

    def _print_And(self, node: sympy.And) -> str:
        parts = sorted(node.args, key=sympy.default_sort_key)
        return f" {self.words.between['and']} ".join(
            f"({self._print(part)})" if isinstance(part, sympy.Or) else str(self._print(part)) for part in parts
        )

    def _print_Or(self, node: sympy.Or) -> str:
        parts = sorted(node.args, key=sympy.default_sort_key)
        either = f" {self.words.between['or']} "
        option = parts[0].args[0]
        words = self.words_of(option)
        if words and all(isinstance(part, sympy.Eq) and part.args[0] == option for part in parts):
            answers = either.join(self.word(words[int(part.args[1])]) for part in parts)
            return f"{self._print(option)} {self.words.between['is']} {answers}"
        return either.join(map(self._print, parts))

    def _print_Not(self, node: sympy.Not) -> str:
        return f"{self.words.between['not']} ({self._print(node.args[0])})"

    def _print_Total(self, node: nodes.Total) -> str:
        return self.slot("sum" if node is self._whole else "sum in brackets", node.args[0])

    def _print_Highest(self, node: nodes.Highest) -> str:
        return self.slot("highest", node.args[0])

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return f"{self.slot('list', other)} {self.words.between['where_highest']} {self.slot('list', cells)}"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        return f"{self.words.between['name_of']} {self.slot('list', node.args[0])}"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        return f"{self.words.between['catalogue']} {self._print(node.args[0])}"


def _joined(text: str) -> str:
    """One pair of tags around neighbouring symbols and the signs between them: WeasyPrint's time grows with the tags."""
    return _BETWEEN_SYMBOLS.sub(r"\1", text)


def _fraction(above: str, below: str) -> str:
    return f'<span class="fraction"><span>{above}</span><span>{below}</span></span>'
