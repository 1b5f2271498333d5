"""What stands in the slots of an HTML equation: symbols, or numbers with their units.

Symbols are plain text in a font of their own (templates/maths.ttf), in which `M_w` reads as an italic M with a
subscript: WeasyPrint's time grows with the tags.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import sympy
from markupsafe import escape

from ..figures import figure
from ..model import Cell, Key
from ..quantity import TABLE, Quantity, Reference, quantity_of
from ..units import byte
from .base import PrintError, Slot

#: The words between symbols; a translation gives the same keys.
WORDS = {
    "if": "if", "otherwise": "otherwise", "and": "and", "or": "or", "not": "not", "is": "is", "is_not": "is not",
    "catalogue": "catalogue value for", "name_of": "name of the highest", "where_highest": "at the highest", "before": "before",
    "components": "components", "roles": "roles", "processes": "processes", "instants": "instants", "cards": "cards",
}  # fmt: skip
#: Reference.every -> the word for such cells.
RANGES = {"component": "components", "role": "roles", "process": "processes", "instant": "instants", "card": "cards"}

_TOKEN = re.compile(
    r"\\mathrm\{(?P<roman>[A-Za-z]+)\}|\\hat\{?(?P<hat>[A-Za-z])\}?|(?P<letter>[A-Za-z])"
    r"|_(?:\{(?P<below>[A-Za-z0-9,]+)\}|(?P<one_below>[A-Za-z0-9]))|\^(?:\{(?P<above>[A-Za-z0-9,]+)\}|(?P<one_above>[A-Za-z0-9]))"
)


def upright(text: str) -> str:
    """Words between symbols. (<u> is nothing but a short tag; the style sheet underlines nothing.)"""
    return f"<u>{text}</u>"


class Names:
    """How quantities, options and the words between them are called, in one language."""

    def __init__(
        self, between: Mapping[str, str] = WORDS, label: Callable[[Quantity], str] | None = None, option: Callable[[str], str] = str,
    ) -> None:  # fmt: skip
        self.between = {key: str(escape(text)) for key, text in between.items()}
        self.label = label or (lambda quantity: quantity.name.replace("_", " "))
        self._option = option

    def option(self, word: str) -> str:
        return upright(str(escape(self._option(word))))

    def word(self, key: str) -> str:
        return upright(self.between[key])

    def symbol(self, quantity: Quantity) -> str:
        """A quantity's symbol, or its name where it has none."""
        return tex(quantity.tex) if quantity.tex else upright(str(escape(self.label(quantity))))


@cache
def tex(text: str) -> str:
    r"""HTML of a symbol, for the font of symbols: letters, `_{…}`, `^{…}`, `\mathrm{…}` and `\hat`.

    Raises PrintError for anything else.
    """
    parts: list[str] = []
    end = 0
    for found in _TOKEN.finditer(text):
        if found.start() != end:
            break
        end = found.end()
        if roman := found["roman"]:
            parts.append(upright(roman))
        elif letter := found["letter"] or found["hat"]:
            parts.append(letter + ("\u0302" if found["hat"] else ""))
        elif below := found["below"] or found["one_below"]:
            parts.append(f"_{below}")
        else:
            parts.append(f"<sup>{found['above'] or found['one_above']}</sup>")
    if end != len(text) or not text:
        raise PrintError(f"Html has no text for the symbol {text!r}")
    return "".join(parts)


class Symbols:
    """Fills slots with symbols; a symbol that reads another column says whose it is."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def __call__(self, slot: Slot, cell: Cell) -> str:
        assert isinstance(slot.subject, sympy.Symbol)
        entry, between = TABLE[slot.subject], self.names.between
        if isinstance(entry, Quantity):
            return self.names.symbol(entry)
        if slot.kind == "cell":
            whose = between["before"] if entry.previous else escape(entry.role or entry.instant.replace("_", " "))
            return f"{self.names.symbol(quantity_of(slot.subject))}<sup>({whose})</sup>"
        cells = between[RANGES[entry.every]]
        shown = f"{self.names.symbol(quantity_of(entry.target))}" if entry.target is not None else ""
        if slot.kind == "list":
            return f"{shown}<sub>{cells}</sub>"
        sign = upright("max") if slot.kind == "highest" else "∑"
        return f"{sign}<sub>{cells}</sub> {shown}" if shown else f"{sign} {upright(cells)}"


class Numbers:
    """Fills slots with the values of the cells that are read; the value of an option is its word."""

    def __init__(self, names: Names, values: Mapping[Key, Any]) -> None:
        self.names, self.values = names, values

    def __call__(self, slot: Slot, cell: Cell) -> str:
        assert isinstance(slot.subject, sympy.Symbol)
        target = cell.refs[slot.subject]
        if isinstance(target, Key):
            return self.value(quantity_of(slot.subject), target)
        entry = TABLE[slot.subject]
        assert isinstance(entry, Reference)
        found = [self.value(None if entry.target is None else quantity_of(entry.target), key) for key in target]
        if slot.kind == "highest":
            return f"max({', '.join(found)})"
        if slot.kind == "list":
            return f"({', '.join(found)})"
        terms = [text for text, key in zip(found, target, strict=True) if self.values[key]] or ["0"]
        return f"({' + '.join(terms)})" if slot.kind == "sum in brackets" and len(terms) > 1 else " + ".join(terms)

    def value(self, quantity: Quantity | None, key: Key) -> str:
        """One cell's value; a component (no quantity) is in bytes."""
        value = self.values[key]
        if isinstance(value, str):
            return str(escape(value))
        if quantity is not None and quantity.choices:
            return self.names.option(quantity.choices[int(value)])
        text = figure(float(value), byte if quantity is None else quantity.unit) if value else "0"
        return f"({text})" if value < 0 else text
