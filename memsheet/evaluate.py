"""Compiled functions: the cells of a model as one straight-line Python or numpy function."""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .model import Cell, Key, Model
from .printers.base import Slot
from .printers.numpy import Numpy
from .printers.python import Python
from .quantity import LOOKUPS

#: What an option's word, a number or a computed word is inside a compiled function.
Value = Any


@dataclass(frozen=True)
class Evaluator:
    """A compiled function and the keys of what goes in and comes out.

    `run` takes the inputs in order and gives the outputs in order (hashing a thousand keys would cost more than the
    arithmetic); calling the evaluator takes and gives mappings.
    """

    inputs: tuple[Key, ...]
    outputs: tuple[Key, ...]
    run: Callable[[Sequence[Value]], Sequence[Value]]

    def __call__(self, inputs: Mapping[Key, Value]) -> dict[Key, Value]:
        return dict(zip(self.outputs, self.run([inputs[key] for key in self.inputs]), strict=True))


def scalar(model: Model, wanted: Iterable[Key] | None = None) -> Evaluator:
    """A function of {input: number} that gives {cell: value}; options are numbers of their words.

    With Fractions as inputs it is exact, up to the literals of the formulas.
    """
    names = {"ceil": _ceil, "floor": _floor, "at_highest": _at_highest}
    return _compile(model, Python(), model.cells if wanted is None else wanted, names)


def arrays(model: Model, wanted: Iterable[Key], chunk: int = 16384) -> Evaluator:
    """The same over numpy arrays of one length, `chunk` rows at a time so that all temporaries stay in cache.

    Inputs may be arrays or single numbers; a wanted cell that depends on no array comes back as a single number.
    Raises ValueError for arrays of different lengths.
    """
    import numpy

    def highest(cells: tuple[Value, ...]) -> Value:
        return functools.reduce(numpy.maximum, cells)

    def where(condition: Value, then: Value, otherwise: Value) -> Value:
        """numpy.where, without a copy where one answer holds for all rows."""
        if numpy.ndim(condition):
            return numpy.where(condition, then, otherwise)
        return then if condition else otherwise

    names = {
        "ceil": numpy.ceil, "floor": numpy.floor, "where": where, "maximum": numpy.maximum,
        "minimum": numpy.minimum, "logical_not": numpy.logical_not, "highest": highest,
    }  # fmt: skip
    whole = _compile(model, Numpy(), wanted, names)
    options = [bool(model.cells[key].quantity.choices) for key in whole.inputs]

    def in_chunks(inputs: Sequence[Value]) -> Sequence[Value]:
        lengths = {len(value) for value in inputs if isinstance(value, numpy.ndarray)}
        if len(lengths) > 1:
            raise ValueError(f"arrays of different lengths: {sorted(lengths)}")
        # Floats, since numpy's whole numbers wrap around in silence where a product passes 2^63.
        inputs = [value if option else numpy.float64(value) for value, option in zip(inputs, options, strict=True)]
        length = lengths.pop() if lengths else 1
        results: list[Value] = []
        with numpy.errstate(divide="ignore", invalid="ignore"):  # both branches of a Piecewise are computed
            for start in range(0, max(length, 1), chunk):
                part = slice(start, start + chunk)
                some = whole.run([value[part] if isinstance(value, numpy.ndarray) else value for value in inputs])
                results = results or [numpy.empty(length) if numpy.ndim(value) else float(value) for value in some]
                for result, value in zip(results, some, strict=True):
                    if numpy.ndim(value):
                        result[part] = value
        return results

    return Evaluator(whole.inputs, whole.outputs, in_chunks)


def _compile(model: Model, printer: Python, wanted: Iterable[Key], names: dict[str, Any]) -> Evaluator:
    """One function that computes the wanted cells, what they need, and nothing else; each value is dropped after its last use."""
    wanted = dict.fromkeys(wanted)
    needed = set(wanted)
    for key in reversed(model.cells):
        if key in needed:
            needed.update(model.cells[key].reads())
    cells = [cell for key, cell in model.cells.items() if key in needed]
    local = {cell.key: f"v{number}" for number, cell in enumerate(cells)}
    last_use = {read: cell.key for cell in cells for read in cell.reads()}
    namespace = dict(names)
    inputs = [cell.key for cell in cells if cell.expression is None]

    def fill(slot: Slot, cell: Cell) -> str:
        if slot.kind == "values":
            catalogue, column = LOOKUPS[slot.subject]  # type: ignore[index]
            return _bind(namespace, f"table_{slot.subject}", _table(printer, catalogue.values(column)))
        target = cell.refs[slot.subject]  # type: ignore[index]
        if slot.kind == "cell":
            return local[target]  # type: ignore[index]
        if slot.kind == "labels":
            return _bind(namespace, f"labels_{local[cell.key]}", cell.labels)
        cells_of_range = [local[key] for key in target]  # type: ignore[index]
        if slot.kind == "sum":
            return "+".join(cells_of_range) or "0"
        return "".join(f"{name}, " for name in cells_of_range) or "0,"

    lines = [f"[{', '.join(local[key] for key in inputs)}] = inputs"]
    for cell in cells:
        if cell.expression is not None:
            lines.append(f"{local[cell.key]} = {printer.text(cell, fill)}")
        finished = [local[read] for read in dict.fromkeys(cell.reads()) if last_use[read] == cell.key and read not in wanted]
        if finished and len(wanted) < len(cells):
            lines.append(f"del {', '.join(finished)}")
    results = "".join(f"{local[key]}, " for key in wanted)
    text = "def evaluate(inputs):\n    " + "\n    ".join([*lines, f"return ({results})"]) + "\n"
    # The text holds nothing but our own printers' output: numbers, v-names and the functions bound above.
    exec(compile(text, "<formulas>", "exec"), namespace)
    return Evaluator(tuple(inputs), tuple(wanted), namespace["evaluate"])


def _bind(namespace: dict[str, Any], name: str, value: Any) -> str:
    namespace[name] = value
    return name


def _table(printer: Python, values: tuple[float, ...]) -> Any:
    if isinstance(printer, Numpy):
        import numpy

        return numpy.array(values, dtype=float)
    return values


def _ceil(value: Value) -> Value:
    # A fraction stays one, so that dividing two rounded values stays exact.
    return Fraction(math.ceil(value)) if isinstance(value, Fraction) else math.ceil(value)


def _floor(value: Value) -> Value:
    return Fraction(math.floor(value)) if isinstance(value, Fraction) else math.floor(value)


def _at_highest(cells: tuple[Value, ...], other: tuple[Value, ...]) -> Value:
    return other[cells.index(max(cells))]
