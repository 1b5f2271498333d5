"""What a written value means for a quantity: a word of an option, a number, bytes with a unit, a percentage."""

import difflib
import re
from collections.abc import Iterable
from decimal import Decimal

from .quantity import Quantity
from .reader import quoted
from .units import share

#: Four digits are exponent enough to be told "too large".
LONGEST_NUMBER = 100
_NUMBER = re.compile(r"([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)\s*([A-Za-z%]*)", re.ASCII)
LARGEST = 10**18
SUFFIXES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class ValueMistake(ValueError):
    """A value that its quantity cannot take; the message says what it can."""


def nearest(word: str, known: Iterable[str]) -> str:
    """' Did you mean …?' or nothing."""
    lower = {one.lower(): one for one in known}
    found = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=0.6)
    return f" Did you mean {lower[found[0]]}?" if found else ""


def parse(quantity: Quantity, text: str) -> float | int:
    """The number that `text` is for this quantity; an option gives the number of its word.

    Raises ValueMistake for an unknown word, for what is no finite number, and for a number outside the limits.
    """
    text = text.strip()
    if quantity.choices:
        if text in quantity.choices:
            return quantity.choices.index(text)
        known = ", ".join(quantity.choices) if len(quantity.choices) <= 30 else f"{len(quantity.choices)} words"
        raise ValueMistake(f"{quoted(text)} is not a word of {quantity.name} ({known}).{nearest(text, quantity.choices)}")
    return number(quantity, text)


def number(quantity: Quantity, text: str) -> float | int:
    """The number of a quantity that is no option. Raises ValueMistake as `parse`."""
    # The pattern tries every split of a run of digits: on a long text that would take minutes.
    found = _NUMBER.fullmatch(text) if len(text) <= LONGEST_NUMBER else None
    if not found:
        raise ValueMistake(f"{quantity.name} needs a number, not {quoted(text)}")
    # Decimal keeps 1.1 GB at 1,100,000,000 bytes.
    exact, suffix = Decimal(found[1].replace("_", "")), found[2]
    if suffix == "%" and quantity.unit == share:
        exact /= 100
    elif suffix in SUFFIXES and quantity.unit.power == 1:
        exact *= SUFFIXES[suffix]
    elif suffix:
        allowed = "a share may end in %" if quantity.unit == share else ", ".join(SUFFIXES) if quantity.unit.power else "a plain number"
        raise ValueMistake(f"{quantity.name} cannot be in {quoted(suffix)}: {allowed}")
    if abs(exact) > LARGEST:
        raise ValueMistake(f"{quantity.name}: {quoted(text)} is too large to be meant")
    value = int(exact) if exact == int(exact) else float(exact)
    low, high = quantity.limits
    if value < low or (high is not None and value > high):
        upper = " or more" if high is None else f" to {high:.15g}"
        raise ValueMistake(f"{quantity.name} must be {low:.15g}{upper}, not {quoted(text)}")
    if quantity.whole and isinstance(value, float):
        raise ValueMistake(f"{quantity.name} must be a whole number, not {quoted(text)}")
    return value


def shown(quantity: Quantity, value: object) -> object:
    """A cell's value as a reader sees it: the word of an option, else the number or text itself."""
    return quantity.choices[int(value)] if quantity.choices and isinstance(value, (int, float)) else value  # type: ignore[call-overload]
