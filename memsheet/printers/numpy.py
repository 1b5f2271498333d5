"""numpy: the same cells over arrays, for sweeps. Words (which instant binds) are left to the scalar target."""

from functools import reduce

import sympy

from .. import nodes
from .base import PrintError
from .python import Python


class Numpy(Python):
    def _print_Max(self, node: sympy.Max) -> str:
        return reduce(lambda left, right: f"maximum({left}, {right})", map(self._print, node.args))

    def _print_Min(self, node: sympy.Min) -> str:
        return reduce(lambda left, right: f"minimum({left}, {right})", map(self._print, node.args))

    def _print_Piecewise(self, node: sympy.Piecewise) -> str:
        tests, text = self.cases(node)
        for condition, value in reversed(tests):
            text = f"where({condition}, {value}, {text})"
        return text

    def _print_And(self, node: sympy.And) -> str:
        return self.logic(node, "&")

    def _print_Or(self, node: sympy.Or) -> str:
        return self.logic(node, "|")

    def _print_Not(self, node: sympy.Not) -> str:
        return f"logical_not({self._print(node.args[0])})"

    def _print_Highest(self, node: nodes.Highest) -> str:
        return f"highest(({self.slot('range', node.args[0])}))"

    def _print_AtHighest(self, node: nodes.AtHighest) -> str:
        raise PrintError("Numpy has no text for AtHighest: ask the scalar target which cell is highest")

    _print_NameOfHighest = _print_CountOf = _print_AtHighest
