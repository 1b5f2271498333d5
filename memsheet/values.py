"""What a written value means for a quantity: a word of an option, a number, bytes with a unit, a percentage."""

import difflib
import math
import re
from collections.abc import Iterable

from .declare import Quantity
from .units import share

_NUMBER = re.compile(r"([+-]?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z%]*)")
SUFFIXES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class ValueMistake(ValueError):
    """A value that its quantity cannot take; the message says what it can."""


def nearest(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' or nothing."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean {found[0]}?" if found else ""


def parse(quantity: Quantity, text: str) -> float | int:
    """The number that `text` is for this quantity; an option gives the number of its word.

    Raises ValueMistake for an unknown word, for what is no finite number, and for a number outside the limits.
    """
    text = text.strip()
    if quantity.choices:
        if text in quantity.choices:
            return quantity.choices.index(text)
        known = ", ".join(quantity.choices) if len(quantity.choices) <= 30 else f"{len(quantity.choices)} words"
        raise ValueMistake(f"{_shown(text)} is not a word of {quantity.name} ({known}).{nearest(text, quantity.choices)}")
    return number(quantity, text)


def number(quantity: Quantity, text: str) -> float | int:
    found = _NUMBER.fullmatch(text)
    if not found:
        raise ValueMistake(f"{quantity.name} needs a number, not {_shown(text)}")
    digits, suffix = found[1].replace("_", ""), found[2]
    value: float | int = float(digits) if any(mark in digits for mark in ".eE") else int(digits)
    if suffix == "%" and quantity.unit == share:
        value = value / 100
    elif suffix in SUFFIXES and quantity.unit.power == 1:
        value = value * SUFFIXES[suffix]
    elif suffix:
        allowed = "a share may end in %" if quantity.unit == share else ", ".join(SUFFIXES) if quantity.unit.power else "a plain number"
        raise ValueMistake(f"{quantity.name} cannot be in {suffix!r}: {allowed}")
    if not math.isfinite(value) or abs(value) > 1e18:
        raise ValueMistake(f"{quantity.name}: {_shown(text)} is too large to be meant")
    value = int(value) if value == int(value) else value
    low, high = quantity.limits
    if value < low or (high is not None and value > high):
        upper = "" if high is None else f" to {high:g}"
        raise ValueMistake(f"{quantity.name} must be {low:g}{upper or ' or more'}, not {_shown(text)}")
    if quantity.whole and value != int(value):
        raise ValueMistake(f"{quantity.name} must be a whole number, not {_shown(text)}")
    return value


def shown(quantity: Quantity, value: object) -> object:
    """A cell's value as a reader sees it: the word of an option, else the number or text itself."""
    return quantity.choices[int(value)] if quantity.choices and isinstance(value, (int, float)) else value  # type: ignore[call-overload]


def _shown(text: str) -> str:
    """A piece of somebody's text, short and without control characters."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
