"""What a formula is. A formula file holds lines such as

    weights = define(bf16 * parameters / ranks, "Weights on one rank", byte, tex="M_w", source="ZeRO, section 5")

The variable's name becomes the quantity's name; label, unit and source stand in a side table keyed by the symbol,
so that the expression itself stays plain sympy. Nothing here knows any formula.
"""

import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import sympy
from sympy.logic.boolalg import Boolean

from . import nodes
from .catalogue import Catalogue
from .units import Unit, UnitError, byte, count, dimension, layers, parameters, ranks, sequences, share, tokens, words

__all__ = [
    "TABLE",
    "Declaration",
    "DeclarationError",
    "Quantity",
    "Reference",
    "all_of",
    "any_of",
    "at",
    "at_highest",
    "by_stage",
    "byte",
    "catalogue_option",
    "catalogue_value",
    "caution",
    "choose",
    "components",
    "count",
    "decide",
    "define",
    "every",
    "given",
    "highest",
    "highest_of",
    "implies",
    "is_word",
    "layers",
    "load",
    "lowest",
    "name_of_highest",
    "of",
    "parameters",
    "ranks",
    "require",
    "running",
    "sequences",
    "share",
    "tokens",
    "total_of",
    "when",
    "words",
]  # fmt: skip

Expression: TypeAlias = sympy.Expr | int

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


def _level_of(symbol: sympy.Symbol) -> tuple[str, bool]:
    entry = TABLE[symbol]
    return entry.per, entry.timed


def _caller() -> str:
    """File and line of the formula file that called into this module."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__ and frame.f_back:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _symbol() -> sympy.Symbol:
    # A Dummy is unique without a name; positive=True would let sympy delete branches and maxima that can matter.
    return sympy.Dummy("q", real=True)


def _register(quantity: Quantity) -> sympy.Symbol:
    TABLE[quantity.symbol] = quantity
    return quantity.symbol


def given(
    label: str, unit: Unit = count, *, per: str = "role", tex: str = "", choices: Sequence[str] = (), default: float | str | None = None,
    limits: tuple[float, float | None] = (0, None), whole: bool = False, group: str = "", source: str = "", note: str = "",
) -> sympy.Symbol:  # fmt: skip
    """Declare an input cell and return its symbol.

    `choices` makes it an option of words. `limits` are the lowest and highest value allowed (None: no upper limit),
    `whole` asks for a whole number. `group` ("lora_targets.q_proj") makes it one member of a list in a scenario file.
    Without a default a scenario that needs the quantity must state it.
    """
    where = _caller()
    if choices:
        unit = words
    if default is not None and not source and not choices and unit is not count and unit.power:
        raise DeclarationError(f"{where}: {label}: a default in bytes is a claim: name its source")
    if choices and default is not None and default not in choices:
        raise DeclarationError(f"{where}: {label}: the default {default!r} is not among the choices {', '.join(choices)}")
    return _register(
        Quantity(
            _symbol(), label, unit, where, _known_level(per, where), tex=tex, choices=tuple(choices), default=default,
            limits=limits, whole=whole, group=group, source=source, note=note,
        )
    )  # fmt: skip


def catalogue_option(catalogue: Catalogue, label: str, *, per: str = "role", default: str | None = None, tex: str = "") -> sympy.Symbol:
    """Declare an input whose words are the rows of a catalogue."""
    symbol = given(label, per=per, choices=tuple(catalogue.rows), default=default, tex=tex)
    quantity_of(symbol).catalogue = catalogue
    return symbol


def catalogue_value(option: sympy.Symbol, column: str, *, tex: str = "") -> sympy.Symbol:
    """Declare an input that a catalogue fills in from the row chosen by `option`; a scenario may state its own value."""
    where, chooser = _caller(), quantity_of(option)
    catalogue = chooser.catalogue
    if catalogue is None or column not in catalogue.columns:
        raise DeclarationError(f"{where}: no catalogue column {column!r} behind {chooser.label!r}")
    about = catalogue.columns[column]
    LOOKUPS.append((catalogue, column))
    return _register(
        Quantity(
            _symbol(), about.label, about.unit, where, chooser.per, tex=tex,
            lookup=nodes.Lookup(option, sympy.Integer(len(LOOKUPS) - 1)),
            source=f"catalogue {catalogue.name}, column {column}", note=about.note, limits=about.limits, whole=about.whole,
        )
    )  # fmt: skip


def define(
    expression: Expression, label: str, unit: Unit = byte, *, source: str, tex: str = "", per: str = "", note: str = "",
) -> sympy.Symbol:  # fmt: skip
    """Declare a formula and return its symbol.

    `per` is worked out from what the formula reads; name it only to lift a formula over `of(...)` references.
    Raises DeclarationError for a missing source, for bytes added to a count, and for a unit that does not come out.
    """
    return _define(sympy.sympify(expression), label, unit, source=source, tex=tex, per=per, note=note)


def _define(
    expression: sympy.Expr, label: str, unit: Unit, *, source: str, tex: str = "", per: str = "", note: str = "",
    choices: tuple[str, ...] = (), severity: str = "",
) -> sympy.Symbol:  # fmt: skip
    where = _caller()
    _check(expression, label, unit, source, where)
    level, timed = _scope(expression)
    if per:
        level = _known_level(per, where)
    return _register(
        Quantity(
            _symbol(), label, unit, where, level, timed, expression, tex, source, note, choices=choices, severity=severity
        )
    )  # fmt: skip


def _check(expression: sympy.Expr, label: str, unit: Unit, source: str, where: str) -> None:
    if not label.strip() or not source.strip():
        raise DeclarationError(f"{where}: {label or 'a formula'}: needs a label and a source")
    try:
        found = dimension(expression, unit_of)
    except UnitError as error:
        raise DeclarationError(f"{where}: {label}: {error}") from None
    if found not in (unit.power, None):
        raise DeclarationError(f"{where}: {label}: declared in {unit.name}, works out as byte^{found}")


def _known_level(per: str, where: str) -> str:
    if per not in LEVELS:
        raise DeclarationError(f"{where}: per={per!r}: one of {', '.join(LEVELS)}")
    return per


def _scope(*expressions: sympy.Basic) -> tuple[str, bool]:
    """The finest level, and whether any part changes from instant to instant."""
    scopes = [_level_of(symbol) for expression in expressions for symbol in expression.free_symbols]
    level = max((LEVELS.index(per) for per, _ in scopes), default=0)
    return LEVELS[level], any(timed for _, timed in scopes)


def by_stage(
    label: str, unit: Unit = count, *, only: Expression, first: Expression, middle: Expression, last: Expression, source: str,
    tex: str = "", note: str = "",
) -> sympy.Symbol:  # fmt: skip
    """Declare a formula that differs between the first, a middle and the last pipeline stage.

    `only` is the formula of a card that is not split into stages.
    """
    where = _caller()
    stages = {stage: sympy.sympify(value) for stage, value in zip(("", *STAGES), (only, first, middle, last), strict=True)}
    for value in stages.values():
        _check(value, label, unit, source, where)
    level, timed = _scope(*stages.values())
    level = max(level, "role", key=LEVELS.index)
    return _register(Quantity(_symbol(), label, unit, where, level, timed, tex=tex, source=source, note=note, stages=stages))


def running(
    expression: sympy.Expr, label: str, unit: Unit = byte, *, emptied: sympy.Expr, source: str, tex: str = "", note: str = "",
) -> sympy.Symbol:  # fmt: skip
    """Declare a formula that never falls from one instant to the next.

    Where the schedule says that the cache is emptied, the value is `emptied` instead.
    """
    symbol = _define(expression, label, unit, source=source, tex=tex, note=note)
    quantity = quantity_of(symbol)
    if not quantity.timed:
        raise DeclarationError(f"{quantity.where}: {label}: running() needs a quantity that changes from instant to instant")
    _check(emptied, label, unit, source, quantity.where)
    quantity.emptied = emptied
    quantity.previous = _symbol()
    TABLE[quantity.previous] = Reference(symbol, previous=True, per=quantity.per, timed=True)
    return symbol


# --- references to other columns -------------------------------------------------------------------------------------


def _refer(reference: Reference) -> sympy.Symbol:
    symbol = _symbol()
    TABLE[symbol] = reference
    return symbol


def of(role: str, quantity: sympy.Symbol) -> sympy.Symbol:
    """Another role's cell, on the same pipeline stage where that role has stages: of("rollout", weights)."""
    return _refer(Reference(quantity, role=role, per="card", timed=_level_of(quantity)[1]))


def at(instant: str, quantity: sympy.Symbol) -> sympy.Symbol:
    """The value of a timeline row at one named instant of the same card: at("engine_load", device)."""
    per, timed = _level_of(quantity)
    if not timed:
        raise DeclarationError(f"{_caller()}: at({instant!r}): {quantity_of(quantity).label!r} does not change with time")
    return _refer(Reference(quantity, instant=instant, per=per))


def every(what: str, quantity: sympy.Symbol) -> sympy.Symbol:
    """A range of one row's cells: every "role" or "process" of a card, every "instant", or every "card" of the scenario."""
    per, timed = _level_of(quantity)
    if what == "instant" and timed:
        return _refer(Reference(quantity, every=what, per=per))
    if what in ("process", "role") and per == what:
        return _refer(Reference(quantity, every=what, per="card", timed=timed))
    if what == "card" and per == "card" and not timed:
        return _refer(Reference(quantity, every=what, per="scenario"))
    raise DeclarationError(f"{_caller()}: every({what!r}): {quantity_of(quantity).label!r} has no such cells")


def components(per: str) -> sympy.Symbol:
    """The range of what the schedule holds at an instant, in one "process" or on the whole "card"."""
    return _refer(Reference(None, every="component", per=per, timed=True))


def total_of(cells: sympy.Symbol) -> sympy.Expr:
    """Sum of a range."""
    return nodes.Total(cells)


def highest_of(cells: sympy.Symbol) -> sympy.Expr:
    """Largest cell of a range."""
    return nodes.Highest(cells)


def at_highest(cells: sympy.Symbol, other: sympy.Symbol) -> sympy.Expr:
    """What another range holds where this one is highest."""
    return nodes.AtHighest(cells, other)


def name_of_highest(cells: sympy.Symbol, label: str, *, source: str, tex: str = "") -> sympy.Symbol:
    """Declare the row that names the largest cell of a range, as a word."""
    return _define(nodes.NameOfHighest(cells), label, words, source=source, tex=tex)


# --- expressions -----------------------------------------------------------------------------------------------------


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
        raise DeclarationError(f"{_caller()}: {', '.join(unknown)}: not a word of {quantity_of(option).label!r} ({', '.join(known)})")
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
        raise DeclarationError(f"{_caller()}: choose: {wrong}: missing, or not a word of {quantity_of(option).label!r}")
    *tests, last = known
    pairs = [(sympy.sympify(branches[word]), sympy.Eq(option, number)) for number, word in enumerate(tests)]
    return sympy.Piecewise(*pairs, (sympy.sympify(branches[last]), True))


def decide(label: str, *answers: tuple[str, Boolean | bool], source: str, tex: str = "", per: str = "") -> sympy.Symbol:
    """Declare a row that is a word: the first answer whose condition holds. The last condition must be True."""
    if answers[-1][1] is not True:
        raise DeclarationError(f"{_caller()}: {label}: the last answer must be unconditional")
    expression = sympy.Piecewise(*((sympy.Integer(number), condition) for number, (_, condition) in enumerate(answers)))
    return _define(expression, label, words, source=source, tex=tex, per=per, choices=tuple(word for word, _ in answers))


def require(condition: Boolean, label: str, *, source: str) -> sympy.Symbol:
    """Declare what must hold for the formulas to cover a configuration. `label` says what is missing and what to do."""
    expression = sympy.Piecewise((0, condition), (1, True))
    return _define(expression, label, words, source=source, choices=("ok", "not covered"), severity="refuse")


def caution(condition: Boolean, label: str, *, source: str) -> sympy.Symbol:
    """Declare when an estimate is less sure; `label` says why."""
    expression = sympy.Piecewise((1, condition), (0, True))
    return _define(expression, label, words, source=source, choices=("ok", "less sure"), severity="caution")


# --- loading ---------------------------------------------------------------------------------------------------------


def load(folder: Path, package: str = "memsheet.formulas", chapters: Iterable[str] | None = None) -> Declaration:
    """Import the chapters of a folder and name their rows.

    Chapters are loaded in the order of the folder's `__init__.py` (`CHAPTERS`), or as given. Raises DeclarationError
    for a row without a variable to name it, and for two rows of one name.
    """
    root = _package(folder, package)
    rows: dict[str, Quantity] = {}
    titles: dict[str, str] = {}
    series: dict[str, tuple[str, ...]] = {}
    meanings: dict[str, dict[str, sympy.Symbol]] = {"HEADLINE": {}, "STATISTICS": {}, "STRUCTURE": {}}
    for chapter in root.CHAPTERS if chapters is None else chapters:
        module = importlib.import_module(f"{package}.{chapter}")
        titles[chapter] = (module.__doc__ or chapter).strip().splitlines()[0].rstrip(".")
        for name, value in vars(module).items():
            quantity = TABLE.get(value) if isinstance(value, sympy.Symbol) else None
            if not isinstance(quantity, Quantity) or not _declared_in(quantity, module):
                continue
            if name in rows and rows[name] is not quantity:
                raise DeclarationError(f"{quantity.where}: {name} is declared twice, first at {rows[name].where}")
            quantity.name, quantity.chapter = name, chapter
            rows[name] = quantity
        for quantity in TABLE.values():
            if isinstance(quantity, Quantity) and not quantity.name and _declared_in(quantity, module):
                raise DeclarationError(f"{quantity.where}: {quantity.label!r} is declared but given no name")
        for table, collected in meanings.items():
            collected.update(getattr(module, table, {}))
        for label, symbols in getattr(module, "SERIES", {}).items():
            series[label] = tuple(quantity_of(symbol).name for symbol in symbols)
    headline, statistics, structure = (
        {meaning: quantity_of(symbol).name for meaning, symbol in table.items()} for table in meanings.values()
    )
    return Declaration(rows, titles, headline, statistics, structure, series)


def _declared_in(quantity: Quantity, module: ModuleType) -> bool:
    return quantity.where.rpartition(":")[0] == module.__file__


def _package(folder: Path, package: str) -> ModuleType:
    """Import a folder as a package, wherever it lies: beside memsheet in a checkout, inside it in a wheel."""
    if package in sys.modules:
        return sys.modules[package]
    path = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(package, path, submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None or not path.exists():
        raise DeclarationError(f"{folder}: no formulas here (an __init__.py that lists CHAPTERS is missing)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    spec.loader.exec_module(module)
    return module
