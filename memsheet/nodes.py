"""The few expression nodes that sympy lacks. Each printer knows them by name; none of them evaluates itself.

A *range* is one symbol that stands for several cells, such as every component held at one instant.
"""

import sympy


class Unevaluated(sympy.Function):
    """A function that stays as written, whatever its arguments."""

    @classmethod
    def eval(cls, *arguments: sympy.Expr) -> None:
        return None


class Total(Unevaluated):
    """Total(range): the sum of the cells of a range."""


class Highest(Unevaluated):
    """Highest(range): the largest of the cells of a range."""


class AtHighest(Unevaluated):
    """AtHighest(range, other): the value of `other` at the place where `range` is highest, the first such place."""


class NameOfHighest(Unevaluated):
    """NameOfHighest(range): the label of the first cell that is highest in the range: a word."""


class CountOf(Unevaluated):
    """CountOf(range, number): how many cells of a range of words are the word of that number."""


class Lookup(Unevaluated):
    """Lookup(option, column number): a catalogue's figure for the chosen row."""
