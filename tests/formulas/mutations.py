"""Formulas made wrong on purpose, to see that the cases and the measured runs notice. (Not collected by pytest.)

Every row, and every whole number in it, gets a factor of its own: an input of the model that is 1, and else in a mutant.
So each scenario is compiled once, and a mutant is one more run of the function.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import sympy

from memsheet import evaluate
from memsheet.declare import TABLE, Declaration, Quantity
from memsheet.model import Cell, Key, Model
from memsheet.scenario import Scenario
from memsheet.units import count


@dataclass(frozen=True)
class Check:
    """A scenario, and the lowest and highest value that each of some cells may have."""

    name: str
    scenario: Scenario
    bounds: Mapping[Key, tuple[float, float]]


class Mutants:
    """The factors of a declaration. `wrong` maps a factor's symbol to what it makes wrong, where it is `value`."""

    def __init__(self, declaration: Declaration, value: float) -> None:
        self.value = value
        self.wrong: dict[sympy.Symbol, str] = {}
        self.made: dict[tuple[str, sympy.Expr], tuple[sympy.Expr, tuple[sympy.Symbol, ...]]] = {}
        for row in declaration.rows.values():
            if row.choices or row.unit.name == "words" or row.is_given:
                continue
            whole = self.factor(row.name)
            for expression in (row.expression, row.emptied, *(row.stages or {}).values()):
                if expression is not None:
                    self.made[row.name, expression] = self.mutant(row.name, expression, whole)

    def factor(self, what: str) -> sympy.Symbol:
        symbol = sympy.Dummy("wrong", real=True)
        TABLE[symbol] = Quantity(symbol, what, count, "test", "scenario", name=f"wrong {len(self.wrong)}")
        self.wrong[symbol] = what
        return symbol

    def mutant(self, row: str, expression: sympy.Expr, whole: sympy.Symbol) -> tuple[sympy.Expr, tuple[sympy.Symbol, ...]]:
        """An expression with a factor before it and before each whole number in it."""
        factors = [whole]

        def rebuilt(node: sympy.Basic) -> sympy.Basic:
            match node:
                case sympy.Integer():
                    if node == 0:
                        return node
                    factors.append(self.factor(f"{row}: the {abs(node)} in {short(expression)}"))
                    return sympy.Mul(node, factors[-1], evaluate=False)
                case sympy.Pow(base=base, exp=exponent):  # x**2 and 1/x are no coefficients
                    return sympy.Pow(rebuilt(base), exponent, evaluate=False)
                case sympy.Piecewise():
                    return sympy.Piecewise(*((rebuilt(branch.expr), branch.cond) for branch in node.args), evaluate=False)
                case sympy.Symbol() | sympy.Number():
                    return node
            return node.func(*map(rebuilt, node.args), evaluate=False)

        body = rebuilt(expression)
        return sympy.Mul(whole, body, evaluate=False), tuple(factors)

    def survivors(self, checks: Sequence[Check]) -> list[str]:
        """What can be made wrong without any check noticing."""
        alive = dict(self.wrong)
        for check in checks:
            for symbol in list(self.noticed(check, alive)):
                del alive[symbol]
        return sorted(alive.values())

    def noticed(self, check: Check, alive: Mapping[sympy.Symbol, str]) -> Iterator[sympy.Symbol]:
        """The factors, of those still alive, with which a check fails."""
        model, used = self.of_model(check.scenario.model)
        run = evaluate.scalar(model, check.bounds)
        inputs = [1.0 if key.row.startswith("wrong ") else check.scenario.inputs[key] for key in run.inputs]
        places = {key: number for number, key in enumerate(run.inputs)}
        bounds = [check.bounds[key] for key in run.outputs]
        right = run.run(inputs)
        assert all(low <= value <= high for value, (low, high) in zip(right, bounds, strict=True)), f"{check.name} fails anyway"
        for symbol in alive:
            if (place := places.get(key_of(symbol))) is not None and symbol in used:
                inputs[place] = self.value
                values = run.run(inputs)
                inputs[place] = 1.0
                if not all(low <= value <= high for value, (low, high) in zip(values, bounds, strict=True)):
                    yield symbol

    def of_model(self, model: Model) -> tuple[Model, set[sympy.Symbol]]:
        """A scenario's model with all factors in it."""
        cells: dict[Key, Cell] = {}
        used: set[sympy.Symbol] = set()
        for key, cell in model.cells.items():
            name = cell.quantity.name
            if (name, cell.expression) in self.made:
                expression, factors = self.made[name, cell.expression]
            elif cell.quantity.previous is not None and cell.expression is not None:  # a running maximum
                expression, factors = sympy.Mul(whole := self.whole(name), cell.expression, evaluate=False), (whole,)
            else:
                cells[key] = cell
                continue
            for factor in factors:
                cells.setdefault(key_of(factor), Cell(key_of(factor), TABLE[factor]))
            used.update(factors)
            cells[key] = replace(cell, expression=expression, refs={**cell.refs, **{factor: key_of(factor) for factor in factors}})
        return Model(model.declaration, model.layout, cells), used

    def whole(self, row: str) -> sympy.Symbol:
        return next(symbol for symbol, what in self.wrong.items() if what == row)


def key_of(symbol: sympy.Symbol) -> Key:
    return Key(TABLE[symbol].name)


def short(expression: sympy.Expr) -> str:
    """An expression with the names of its rows, cut off where it is long."""
    names = {symbol: sympy.Symbol(getattr(TABLE[symbol], "name", "cells") or "cells") for symbol in expression.free_symbols}
    text = str(expression.xreplace(names))
    return text if len(text) <= 100 else text[:97] + "..."
