"""How a value reads: bytes in GiB or MiB (2^30, 2^20), counts in groups of three digits, shares in percent."""

from .units import Unit, share

GIB, MIB = 2**30, 2**20

#: Narrow and unbreakable, so that a number and its unit stay on one line.
SPACE = "\u202f"


def figure(value: float, unit: Unit) -> str:
    """A number with its unit, rounded as a reader needs it; a count of things has no unit."""
    if unit.power == 1:
        return size(value)
    if unit == share:
        return percent(value)
    return number(value)


def size(value: float) -> str:
    """Bytes, in the unit that gives at least one digit before the point."""
    for one, name in ((GIB, "GiB"), (MIB, "MiB")):
        if abs(value) >= one:
            return f"{number(round(value / one, 2), 2)}{SPACE}{name}"
    return f"{number(value)}{SPACE}B"


def gib(value: float, places: int = 2) -> str:
    """Bytes as a bare number of GiB, for the columns of a table."""
    return number(round(value / GIB, places), places)


def percent(value: float) -> str:
    return f"{number(round(100 * value, 1))}{SPACE}%"


def number(value: float, places: int | None = None) -> str:
    """A number in groups of three digits; without `places`, with as many decimals as carry four significant digits."""
    if places is None:
        whole = value == int(value)
        places = 0 if whole or abs(value) >= 1000 else 3 if abs(value) >= 1 else 4
    text = f"{abs(value):,.{places}f}".replace(",", SPACE)
    if "." in text and places != 2:
        text = text.rstrip("0").rstrip(".")
    return ("\u2212" if value < 0 and text.strip("0.") else "") + text
