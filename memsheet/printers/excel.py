"""Excel's formula language, as far as every spreadsheet program reads it alike.

No ROUNDUP (programs differ at the edges), no LET, LAMBDA or XLOOKUP; powers in brackets, since `-2^2` is 4 in Excel.
"""

import sympy

from .. import nodes
from .base import Printer, lookup_number

SIGNS = {"==": "=", "!=": "<>"}


class Excel(Printer):
    def power(self, base: str, exponent: str) -> str:
        return f"({base}^{exponent})"

    def word(self, word: str) -> str:
        return '"' + word.replace('"', '""') + '"'

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left}{SIGNS.get(sign, sign)}{right}"

    def _print_Max(self, node: sympy.Max) -> str:
        return f"MAX({self.stringify(node.args, ',')})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"MIN({self.stringify(node.args, ',')})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f"CEILING({self._print(node.args[0])},1)"

    def _print_floor(self, node: sympy.floor) -> str:
        return f"INT({self._print(node.args[0])})"

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, text = self.cases(node)
        for condition, value in reversed(tests):
            text = f"IF({condition},{value},{text})"
        return text

    def _print_And(self, node: sympy.And) -> str:
        return f"AND({self.stringify(node.args, ',')})"

    def _print_Or(self, node: sympy.Or) -> str:
        return f"OR({self.stringify(node.args, ',')})"

    def _print_Not(self, node: sympy.Not) -> str:
        return f"NOT({self._print(node.args[0])})"

    def _print_Total(self, node: nodes.Total) -> str:
        return f"SUM({self.slot('range', node.args[0])})"

    def _print_Highest(self, node: nodes.Highest) -> str:
        return f"MAX({self.slot('range', node.args[0])})"

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return f"INDEX({self.slot('range', other)},{self._place_of_highest(cells)})"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        cells = node.args[0]
        return f"INDEX({self.slot('labels', cells)},{self._place_of_highest(cells)})"

    def _place_of_highest(self, cells: sympy.Symbol) -> str:
        return f"MATCH(MAX({self.slot('range', cells)}),{self.slot('range', cells)},0)"

    def _print_CountOf(self, node: nodes.CountOf) -> str:
        cells, number = node.args
        return f"COUNTIF({self.slot('range', cells)},{self.word(self.words_of(cells)[int(number)])})"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        number = lookup_number(node)
        return f"INDEX({self.slot('values', number)},MATCH({self._print(node.args[0])},{self.slot('rows', number)},0))"
