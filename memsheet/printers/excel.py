"""Excel's formula language, as far as every spreadsheet program reads it alike.

No ROUNDUP (programs differ at the edges), no LET, LAMBDA or XLOOKUP; powers in brackets, since `-2^2` is 4 in Excel.
"""

import sympy

from .. import nodes
from .base import Printer, lookup_number


class Excel(Printer):
    def power(self, base: str, exponent: str) -> str:
        return f"({base}^{exponent})"

    def word(self, word: str) -> str:
        return '"' + word.replace('"', '""') + '"'

    def _print_Mul(self, node: sympy.Mul) -> str:
        text = super()._print_Mul(node)
        return "-1*" + text[1:] if text.startswith("-(") else text

    def _print_Max(self, node: sympy.Max) -> str:
        return f"MAX({self.stringify(node.args, ',')})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"MIN({self.stringify(node.args, ',')})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f"CEILING({self._print(node.args[0])},1)"

    def _print_floor(self, node: sympy.floor) -> str:
        return f"INT({self._print(node.args[0])})"

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        *tests, last = node.args
        text = self.branch(last.expr)
        for pair in reversed(tests):
            text = f"IF({self._print(pair.cond)},{self.branch(pair.expr)},{text})"
        return text

    def _relation(self, node: sympy.Rel) -> str:
        left, right = node.args
        words = self.words_of(left) or self.words_of(right)
        if words and left.is_Integer:
            left, right = right, left
        sign = {"==": "=", "!=": "<>"}.get(node.rel_op, node.rel_op)
        return f"{self._print(left)}{sign}{self.word(words[int(right)]) if words else self._print(right)}"

    _print_Relational = _print_Equality = _print_Unequality = _relation

    def _print_And(self, node: sympy.And) -> str:
        return f"AND({self.stringify(sorted(node.args, key=sympy.default_sort_key), ',')})"

    def _print_Or(self, node: sympy.Or) -> str:
        return f"OR({self.stringify(sorted(node.args, key=sympy.default_sort_key), ',')})"

    def _print_Not(self, node: sympy.Not) -> str:
        return f"NOT({self._print(node.args[0])})"

    def _print_Total(self, node: nodes.Total) -> str:
        return f"SUM({self.slot('range', node.args[0])})"

    def _print_Highest(self, node: nodes.Highest) -> str:
        return f"MAX({self.slot('range', node.args[0])})"

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        place = f"MATCH(MAX({self.slot('range', cells)}),{self.slot('range', cells)},0)"
        return f"INDEX({self.slot('range', other)},{place})"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        cells = node.args[0]
        place = f"MATCH(MAX({self.slot('range', cells)}),{self.slot('range', cells)},0)"
        return f"INDEX({self.slot('labels', cells)},{place})"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        number = lookup_number(node)
        return f"INDEX({self.slot('values', number)},MATCH({self._print(node.args[0])},{self.slot('rows', number)},0))"
