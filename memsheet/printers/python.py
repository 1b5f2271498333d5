"""Scalar Python: one scenario at a time, ten times faster than numpy scalars, and exact when called with fractions."""

import sympy

from .. import nodes
from .base import Printer, lookup_number


class Python(Printer):
    def power(self, base: str, exponent: str) -> str:
        return f"{base}**{exponent}"

    def choice(self, words: tuple[str, ...], number: int) -> str:
        # The first of its name: two answers of a row may share a word.
        return str(words.index(words[number]))

    def relation(self, left: str, sign: str, right: str) -> str:
        return f"{left} {sign} {right}"

    def _print_Max(self, node: sympy.Max) -> str:
        return f"max({self.stringify(node.args, ', ')})"

    def _print_Min(self, node: sympy.Min) -> str:
        return f"min({self.stringify(node.args, ', ')})"

    def _print_ceiling(self, node: sympy.ceiling) -> str:
        return f"ceil({self._print(node.args[0])})"

    def _print_floor(self, node: sympy.floor) -> str:
        return f"floor({self._print(node.args[0])})"

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, text = self.cases(node)
        for condition, value in reversed(tests):
            text = f"({value} if {condition} else {text})"
        return text

    def logic(self, node: sympy.Basic, word: str) -> str:
        return f" {word} ".join(f"({self._print(part)})" for part in node.args)

    def _print_And(self, node: sympy.And) -> str:
        return self.logic(node, "and")

    def _print_Or(self, node: sympy.Or) -> str:
        return self.logic(node, "or")

    def _print_Not(self, node: sympy.Not) -> str:
        return f"not ({self._print(node.args[0])})"

    def _print_Total(self, node: nodes.Total) -> str:
        return f"({self.slot('sum', node.args[0])})"

    def _print_Highest(self, node: nodes.Highest) -> str:
        return f"max(({self.slot('range', node.args[0])}))"

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        cells, other = node.args
        return f"at_highest(({self.slot('range', cells)}), ({self.slot('range', other)}))"

    def _print_NameOfHighest(self, node: nodes.NameOfHighest) -> str:
        return f"at_highest(({self.slot('range', node.args[0])}), {self.slot('labels', node.args[0])})"

    def _print_CountOf(self, node: nodes.CountOf) -> str:
        cells, number = node.args
        return f"({self.slot('range', cells)}).count({int(number)})"

    def _print_Lookup(self, node: nodes.Lookup) -> str:
        return f"{self.slot('values', lookup_number(node))}[{self._print(node.args[0])}]"
