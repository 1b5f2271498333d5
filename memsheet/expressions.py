"""What a formula is written with, beside sympy's own + - * / and ceiling: choices, conditions, maxima, ranges."""

from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from . import nodes
from .quantity import DeclarationError, caller, quantity_of

Expression: TypeAlias = sympy.Expr | int


def highest(*terms: Expression) -> sympy.Expr:
    """The largest of several terms. (sympy's own evaluation compares every pair: 0.3 s for 20 symbols.)"""
    return sympy.Max(*map(sympy.sympify, terms), evaluate=False)


def lowest(*terms: Expression) -> sympy.Expr:
    """The smallest of several terms."""
    return sympy.Min(*map(sympy.sympify, terms), evaluate=False)


def is_word(option: sympy.Symbol, *answers: str) -> Boolean:
    """The condition that an option is one of the given words."""
    known = quantity_of(option).choices
    if unknown := [answer for answer in answers if answer not in known]:
        raise DeclarationError(f"{caller()}: {', '.join(unknown)}: not a word of {quantity_of(option).label!r} ({', '.join(known)})")
    # Eq, not ==, which Python answers at once with False.
    return sympy.Or(*(sympy.Eq(option, known.index(answer)) for answer in answers))


def all_of(*conditions: Boolean) -> Boolean:
    return sympy.And(*conditions)


def any_of(*conditions: Boolean) -> Boolean:
    return sympy.Or(*conditions)


def implies(condition: Boolean, consequence: Boolean) -> Boolean:
    """False only where the condition holds and the consequence does not."""
    return sympy.Or(sympy.Not(condition), consequence)


def when(condition: Boolean, then: Expression, otherwise: Expression = 0) -> sympy.Expr:
    """`then` where the condition holds, else `otherwise`."""
    return sympy.Piecewise((sympy.sympify(then), condition), (sympy.sympify(otherwise), True))


def choose(option: sympy.Symbol, **branches: Expression) -> sympy.Expr:
    """One branch for each word of an option; raises DeclarationError unless every word is answered."""
    known = quantity_of(option).choices
    if set(branches) != set(known):
        wrong = ", ".join(sorted(set(branches) ^ set(known)))
        raise DeclarationError(f"{caller()}: choose: {wrong}: missing, or not a word of {quantity_of(option).label!r}")
    *tests, last = known
    pairs = [(sympy.sympify(branches[word]), sympy.Eq(option, number)) for number, word in enumerate(tests)]
    return sympy.Piecewise(*pairs, (sympy.sympify(branches[last]), True))


def total_of(cells: sympy.Symbol) -> sympy.Expr:
    """Sum of a range."""
    return nodes.Total(cells)


def highest_of(cells: sympy.Symbol) -> sympy.Expr:
    """Largest cell of a range."""
    return nodes.Highest(cells)


def at_highest(cells: sympy.Symbol, other: sympy.Symbol) -> sympy.Expr:
    """What another range holds where this one is highest."""
    return nodes.AtHighest(cells, other)
