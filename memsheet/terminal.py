"""How values and tables look on a terminal: plain text, aligned, in colour only when asked."""

import os
import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:  # at run time this module must stay light: `memsheet --help` imports it
    from .quantity import Quantity
    from .units import Unit

STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33"}


def figure(value: float, unit: "Unit") -> str:
    """A number with its unit, as the report rounds it, in plain ASCII: `12.55 GiB`, `6,738,415,616`, `85 %`."""
    from . import figures

    text = re.sub(rf"(?<=\d){figures.SPACE}(?=\d)", ",", figures.figure(float(value), unit))
    return text.replace(figures.SPACE, " ").replace("\u2212", "-")


def value_text(quantity: "Quantity", value: Any) -> str:
    """A cell's value: the word of an option, a computed text, or a number with its unit."""
    if isinstance(value, str):
        return value
    return quantity.choices[int(value)] if quantity.choices else figure(value, quantity.unit)


def change(value: float, unit: "Unit") -> str:
    """A difference, with its sign."""
    return ("+" if value > 0 else "") + figure(value, unit)


def table(rows: Sequence[Sequence[str]], headers: Sequence[str] = (), align: str = "") -> str:
    """Rows as aligned text. `align` has a letter a column: l or r (l where it is shorter).

    A header wider than its column is set over several lines.
    """
    body = [[printable(text) for text in row] for row in rows]
    heads = [_over_lines(head, max((width(row[number]) for row in body), default=0)) for number, head in enumerate(headers)]
    height = max(map(len, heads), default=0)
    above = [[head[line - height + len(head)] if line >= height - len(head) else "" for head in heads] for line in range(height)]
    if not above + body:
        return ""
    widths = [max(map(width, column)) for column in zip(*above, *body, strict=True)]
    lines = [*above, *([["-" * wide for wide in widths]] if headers else []), *body]
    align = align.ljust(len(widths), "l")

    def padded(text: str, wide: int, side: str) -> str:
        blank = " " * (wide - width(text))
        return blank + text if side == "r" else text + blank

    return "\n".join("  ".join(map(padded, line, widths, align)).rstrip() for line in lines)


def _over_lines(head: str, wide: int) -> list[str]:
    """A header in lines as wide as its column's texts, or as its longest word."""
    words = printable(head).split(" ")
    lines = [words[0]]
    for word in words[1:]:
        if width(lines[-1]) + 1 + width(word) <= max(wide, *map(width, words)):
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def width(text: str) -> int:
    """Columns of the terminal that a text takes: a wide East Asian character two, a combining one none."""
    return sum(
        0 if unicodedata.category(letter) in ("Mn", "Me", "Cf") else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def printable(text: str) -> str:
    """Somebody's text on one line, without control characters, which could repaint the terminal."""
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text)


def wants_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal whose user does not ask for plain text (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str, colour: bool) -> str:
    """Text in a style of STYLES, or as it is without `colour`."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if colour else text
