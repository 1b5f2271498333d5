"""What a formula is. A formula file holds lines such as

    weights = define(bf16 * parameters / ranks, "Weights on one rank", byte, tex="M_w", source="ZeRO, section 5")

The variable's name becomes the quantity's name; label, unit and source stand in a side table keyed by the symbol,
so that the expression itself stays plain sympy. Nothing here knows any formula.
"""

from collections.abc import Sequence

import sympy
from sympy.logic.boolalg import Boolean

from . import nodes
from .catalogue import Catalogue
from .expressions import (
    Expression,
    all_of,
    any_of,
    at_highest,
    choose,
    highest,
    highest_of,
    implies,
    is_word,
    lowest,
    total_of,
    when,
)  # fmt: skip
from .quantity import (
    LEVELS,
    LOOKUPS,
    STAGES,
    TABLE,
    Declaration,
    DeclarationError,
    Quantity,
    Reference,
    caller,
    level_of,
    quantity_of,
    unit_of,
)
from .units import Unit, UnitError, byte, count, dimension, layers, parameters, ranks, sequences, share, tokens, words

__all__ = [
    "TABLE", "Declaration", "DeclarationError", "Quantity", "Reference", "all_of", "any_of", "at", "at_highest",
    "by_stage", "byte", "catalogue_option", "catalogue_value", "caution", "choose", "components", "count", "decide",
    "define", "every", "given", "highest", "highest_of", "implies", "is_word", "layers", "lowest", "name_of_highest",
    "of", "parameters", "ranks", "require", "running", "sequences", "share", "tokens", "total_of", "when", "words",
]  # fmt: skip


def _symbol() -> sympy.Symbol:
    # A Dummy is unique without a name; positive=True would let sympy delete branches and maxima that can matter.
    return sympy.Dummy("q", real=True)


def _register(quantity: Quantity) -> sympy.Symbol:
    if not isinstance(quantity.unit, Unit):
        raise DeclarationError(f"{quantity.where}: {quantity.label}: {quantity.unit!r} is no unit: import one, such as byte")
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
    where = caller()
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
    where, chooser = caller(), quantity_of(option)
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
    where = caller()
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
    scopes = [level_of(symbol) for expression in expressions for symbol in expression.free_symbols]
    level = max((LEVELS.index(per) for per, _ in scopes), default=0)
    return LEVELS[level], any(timed for _, timed in scopes)


def by_stage(
    label: str, unit: Unit = count, *, only: Expression, first: Expression, middle: Expression, last: Expression, source: str,
    tex: str = "", note: str = "",
) -> sympy.Symbol:  # fmt: skip
    """Declare a formula that differs between the first, a middle and the last pipeline stage.

    `only` is the formula of a card that is not split into stages.
    """
    where = caller()
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
    return _refer(Reference(quantity, role=role, per="card", timed=level_of(quantity)[1]))


def at(instant: str, quantity: sympy.Symbol) -> sympy.Symbol:
    """The value of a timeline row at one named instant of the same card: at("engine_load", device)."""
    per, timed = level_of(quantity)
    if not timed:
        raise DeclarationError(f"{caller()}: at({instant!r}): {quantity_of(quantity).label!r} does not change with time")
    return _refer(Reference(quantity, instant=instant, per=per))


def every(what: str, quantity: sympy.Symbol) -> sympy.Symbol:
    """A range of one row's cells: every "role" or "process" of a card, every "instant", or every "card" of the scenario."""
    per, timed = level_of(quantity)
    if what == "instant" and timed:
        return _refer(Reference(quantity, every=what, per=per))
    if what in ("process", "role") and per == what:
        return _refer(Reference(quantity, every=what, per="card", timed=timed))
    if what == "card" and per == "card" and not timed:
        return _refer(Reference(quantity, every=what, per="scenario"))
    raise DeclarationError(f"{caller()}: every({what!r}): {quantity_of(quantity).label!r} has no such cells")


def components(per: str) -> sympy.Symbol:
    """The range of what the schedule holds at an instant, in one "process" or on the whole "card"."""
    return _refer(Reference(None, every="component", per=per, timed=True))


def name_of_highest(cells: sympy.Symbol, label: str, *, source: str, tex: str = "") -> sympy.Symbol:
    """Declare the row that names the largest cell of a range, as a word."""
    return _define(nodes.NameOfHighest(cells), label, words, source=source, tex=tex)


def decide(label: str, *answers: tuple[str, Boolean | bool], source: str, tex: str = "", per: str = "") -> sympy.Symbol:
    """Declare a row that is a word: the first answer whose condition holds. The last condition must be True."""
    if answers[-1][1] is not True:
        raise DeclarationError(f"{caller()}: {label}: the last answer must be unconditional")
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
