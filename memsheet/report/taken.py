"""The part of an equation that counts in one scenario: every option decided, the branch that is taken, the term that wins."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy

from ..model import Cell, Key
from ..printers.base import PrintError, Slot
from ..printers.python import Python

_PRINTER = Python()
_FUNCTIONS = {"__builtins__": {}, "max": max, "min": min, "ceil": math.ceil, "floor": math.floor}


@dataclass(frozen=True)
class Taken:
    """`expression` holds no Piecewise; `decided` are the options that its branches asked for."""

    expression: sympy.Basic
    decided: tuple[Key, ...]


def taken(cell: Cell, values: Mapping[Key, Any]) -> Taken:
    """A cell's expression with the branch that is taken in place of each choice."""
    assert cell.expression is not None
    decided: dict[Key, None] = {}

    def walk(node: sympy.Basic) -> sympy.Basic:
        if isinstance(node, sympy.Piecewise):
            for branch in node.args:
                for symbol in sorted(branch.cond.free_symbols, key=lambda symbol: symbol.dummy_index):
                    target = cell.refs[symbol]
                    assert isinstance(target, Key)
                    decided[target] = None
                if branch.cond is sympy.true or number(branch.cond, cell, values):
                    return walk(branch.expr)
        if not node.has(sympy.Piecewise):
            return node
        parts = [walk(part) for part in node.args]
        if isinstance(node, sympy.Add):
            return _sum(parts)
        if isinstance(node, sympy.Mul):
            return _product(parts)
        return node.func(*parts, evaluate=False) if isinstance(node, (sympy.Max, sympy.Min)) else node.func(*parts)

    return Taken(walk(cell.expression), tuple(decided))


def _sum(parts: list[sympy.Expr]) -> sympy.Expr:
    # Not sympy's own, which would expand 2 * (a + b).
    terms = [term for part in parts for term in sympy.Add.make_args(part) if term != 0]
    return sympy.Add(*terms, evaluate=False) if len(terms) > 1 else (terms or [sympy.Integer(0)])[0]


def _product(parts: list[sympy.Expr]) -> sympy.Expr:
    factors = [factor for part in parts for factor in sympy.Mul.make_args(part)]
    number = math.prod((factor for factor in factors if factor.is_Number), start=sympy.Integer(1))
    others = [factor for factor in factors if not factor.is_Number]
    if number == 0 or not others:
        return number
    factors = [number, *others] if number != 1 else others
    return sympy.Mul(*factors, evaluate=False) if len(factors) > 1 else factors[0]


def number(node: sympy.Basic, cell: Cell, values: Mapping[Key, Any]) -> Any:
    """The value of a part of a cell's expression, read from the cells that it refers to."""

    def fill(slot: Slot, cell: Cell) -> str:
        target = cell.refs[slot.subject]  # type: ignore[index]
        if isinstance(target, Key):
            return f"({values[target]!r})"
        if slot.kind == "sum":
            return "+".join(repr(values[key]) for key in target) or "0"
        if slot.kind == "range":
            return "".join(f"{values[key]!r}, " for key in target) or "0,"
        raise PrintError(f"no number for a {slot.kind} in {cell.key}")

    # The text is our own printer's, over numbers: no text of a scenario is in it.
    return eval(_PRINTER.text(replace(cell, expression=node), fill), dict(_FUNCTIONS))


def range_of(cell: Cell, symbol: sympy.Basic) -> tuple[Key, ...]:
    """The cells that a range stands for."""
    target = cell.refs[symbol]
    assert not isinstance(target, Key)
    return target
