"""What a row is: label, unit, source and formula of a quantity, kept beside its symbol."""

import sys
from dataclasses import dataclass, fields
from pathlib import Path

import sympy

from .catalogue import Catalogue
from .units import Unit, byte

_PACKAGE = Path(__file__).parent

#: From coarse to fine: a quantity has one value for the scenario, for each card, process or role.
LEVELS = ("scenario", "card", "process", "role")
STAGES = ("first", "middle", "last")


class DeclarationError(TypeError):
    """A formula is declared wrongly; the message names the file and line."""


@dataclass(eq=False)
class Quantity:
    """A row: all that is known of a quantity beside its symbol.

    `expression` is None for an input. `per` is one of LEVELS; `timed` rows have a value for each instant as well.
    `severity` is set for a check: "refuse" or "caution".
    """

    symbol: sympy.Symbol
    label: str
    unit: Unit
    where: str
    per: str
    timed: bool = False
    expression: sympy.Expr | None = None
    tex: str = ""
    source: str = ""
    note: str = ""
    name: str = ""
    chapter: str = ""
    choices: tuple[str, ...] = ()
    default: float | str | None = None
    limits: tuple[float, float | None] = (0, None)
    whole: bool = False
    group: str = ""
    lookup: sympy.Expr | None = None
    catalogue: Catalogue | None = None
    stages: dict[str, sympy.Expr] | None = None
    previous: sympy.Symbol | None = None
    emptied: sympy.Expr | None = None
    severity: str = ""

    @property
    def is_given(self) -> bool:
        return self.expression is None and self.stages is None


@dataclass(frozen=True)
class Reference:
    """A symbol that reads another column's cell: of a role, at an instant, or (`every`) several cells at once."""

    target: sympy.Symbol | None
    role: str = ""
    instant: str = ""
    every: str = ""
    previous: bool = False
    per: str = "scenario"
    timed: bool = False


#: The side table: every symbol ever declared, with its meaning.
TABLE: dict[sympy.Symbol, Quantity | Reference] = {}
#: The group of every component that no chapter names in its SERIES.
OTHER_SERIES = "Activations, logits and temporaries"
#: What the second argument of a Lookup node numbers.
LOOKUPS: list[tuple[Catalogue, str]] = []


@dataclass(frozen=True)
class Declaration:
    """A loaded set of chapters: the rows in the order in which they were declared.

    `headline` says which row answers which question ("verdict", "peak", …) and `statistics` which timeline row is what
    a tool measures ("allocated", "reserved", "device"), `structure` which input shapes the columns ("stages") or names
    the card ("gpu"), and `series` how charts group the components: the rest of the code knows meanings, never the
    names of formulas.
    """

    rows: dict[str, Quantity]
    chapters: dict[str, str]  # chapter name -> its title, the first line of the file's docstring
    headline: dict[str, str]
    statistics: dict[str, str]
    structure: dict[str, str]
    series: dict[str, tuple[str, ...]]

    def __getitem__(self, name: str) -> Quantity:
        return self.rows[name]

    def followed_by(self, more: "Declaration") -> "Declaration":
        """These chapters with others behind them. Raises DeclarationError where both declare a name."""
        if twice := self.rows.keys() & more.rows.keys():
            raise DeclarationError(f"{more.rows[min(twice)].where}: {min(twice)} is declared already, at {self.rows[min(twice)].where}")
        return Declaration(*(getattr(self, part.name) | getattr(more, part.name) for part in fields(self)))

    def series_names(self) -> tuple[str, ...]:
        """All groups of components, in the order in which charts stack them."""
        return (*self.series, OTHER_SERIES)

    def series_of(self, row: str) -> str:
        """The group that a component belongs to in charts and tables."""
        return next((label for label, rows in self.series.items() if row in rows), OTHER_SERIES)


def quantity_of(symbol: sympy.Symbol) -> Quantity:
    """The row that a symbol stands for, whichever column it reads."""
    entry = TABLE[symbol]
    if isinstance(entry, Reference):
        assert entry.target is not None, "components() stands for many rows"
        return quantity_of(entry.target)
    return entry


def unit_of(symbol: sympy.Symbol) -> Unit:
    entry = TABLE[symbol]
    if isinstance(entry, Reference):
        return byte if entry.target is None else unit_of(entry.target)
    return entry.unit


def level_of(symbol: sympy.Symbol) -> tuple[str, bool]:
    entry = TABLE[symbol]
    return entry.per, entry.timed


def caller() -> str:
    """File and line of the formula file that called into this package."""
    frame = sys._getframe(1)
    while Path(frame.f_code.co_filename).parent == _PACKAGE and frame.f_back:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
