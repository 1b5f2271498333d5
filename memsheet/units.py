"""Units, and the check that no formula adds bytes to a count.

A dimension is a power of a byte. Whatever can be counted (tokens, layers, ranks) has power 0 and differs by its
display name only, so that `bf16 * parameters / ranks` works out as bytes without a table of conversions.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import sympy
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from . import nodes


class Unit(NamedTuple):
    """A display name and the power of a byte it stands for."""

    name: str
    power: int


byte = Unit("byte", 1)
count = Unit("1", 0)
tokens = Unit("tokens", 0)
parameters = Unit("parameters", 0)
ranks = Unit("ranks", 0)
layers = Unit("layers", 0)
sequences = Unit("sequences", 0)
share = Unit("share", 0)
words = Unit("words", 0)


class UnitError(TypeError):
    """A formula adds, compares or returns quantities of different dimensions."""


def dimension(expression: sympy.Basic, unit_of: Callable[[sympy.Symbol], Unit]) -> int | None:
    """The power of a byte of `expression`; None for a literal 0, which is 0 of anything.

    Raises UnitError where terms of different dimensions meet, or for a node without a rule.
    """

    def same(parts: Iterable[sympy.Basic], what: str) -> int | None:
        known = {power for part in parts if (power := measure(part)) is not None}
        if len(known) > 1:
            raise UnitError(f"{what} quantities of different dimensions: byte^{' and byte^'.join(map(str, sorted(known)))}")
        return known.pop() if known else None

    def condition(node: sympy.Basic) -> None:
        if isinstance(node, Relational):
            same(node.args, "compares")
        else:
            for part in node.args:
                condition(part)

    def measure(node: sympy.Basic) -> int | None:
        match node:
            case sympy.Symbol():
                return unit_of(node).power
            case sympy.Number():
                return None if node == 0 else 0
            case sympy.Mul():
                return sum(measure(part) or 0 for part in node.args)
            case sympy.Pow(base=base, exp=exponent):
                power = measure(base) or 0
                if power and not exponent.is_Integer:
                    raise UnitError("raises bytes to a power that is not a whole number")
                return power * int(exponent) if power else 0
            case sympy.Add():
                return same(node.args, "adds")
            case sympy.Max() | sympy.Min():
                return same(node.args, "compares")
            case sympy.Piecewise():
                for branch in node.args:
                    condition(branch.cond)
                return same((branch.expr for branch in node.args), "chooses between")
            case sympy.ceiling() | sympy.floor():
                if measure(node.args[0]):
                    raise UnitError("rounds bytes: round a count, then multiply")
                return 0
            case nodes.Total() | nodes.Highest():
                return measure(node.args[0])
            case nodes.AtHighest():
                return measure(node.args[1])
            case nodes.NameOfHighest():
                return 0
            case Boolean():
                condition(node)
                return 0
        raise UnitError(f"no dimension rule for {type(node).__name__}")

    return measure(expression)
