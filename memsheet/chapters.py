"""Chapters: the formula files of a folder, imported in order, each row named after its variable."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import sympy

from .quantity import TABLE, Declaration, DeclarationError, Quantity, quantity_of


def load(folder: Path, package: str = "memsheet.formulas") -> Declaration:
    """Import the chapters of a folder, in the order of its `__init__.py` (`CHAPTERS`), and name their rows.

    Raises DeclarationError for a row without a variable to name it, for two rows of one name, and for whatever the
    code of the folder raises, with file and line.
    """
    names = _chapters(_package(folder, package), folder)
    rows: dict[str, Quantity] = {}
    titles: dict[str, str] = {}
    series: dict[str, tuple[str, ...]] = {}
    meanings: dict[str, dict[str, sympy.Symbol]] = {"HEADLINE": {}, "STATISTICS": {}, "STRUCTURE": {}}
    for chapter in names:
        with _code_of(folder, f"{package}.{chapter}"):
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
            found = getattr(module, table, {})
            if not isinstance(found, dict) or not all(isinstance(TABLE.get(value), Quantity) for value in found.values()):
                raise DeclarationError(f"{module.__file__}: {table} must be a dict of meanings and declared quantities")
            collected.update(found)
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
    home = [str(folder.absolute())]
    if package in sys.modules and list(sys.modules[package].__path__) == home:
        return sys.modules[package]
    for name in [name for name in sys.modules if name == package or name.startswith(f"{package}.")]:
        del sys.modules[name]  # another folder's
    path = folder / "__init__.py"
    spec = importlib.util.spec_from_file_location(package, path, submodule_search_locations=home)
    if spec is None or spec.loader is None or not path.exists():
        raise DeclarationError(f"{folder}: no formulas here (an __init__.py that lists CHAPTERS is missing)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    with _code_of(folder, package):
        spec.loader.exec_module(module)
    return module


def _chapters(root: ModuleType, folder: Path) -> tuple[str, ...]:
    names = getattr(root, "CHAPTERS", None)
    if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
        raise DeclarationError(f'{folder / "__init__.py"}: must list its chapters: CHAPTERS = ("first", "second")')
    return tuple(names)


@contextmanager
def _code_of(folder: Path, module: str) -> Iterator[None]:
    """Somebody's code is running: what it raises is told with its place, and nothing half-imported stays behind."""
    try:
        yield
    except Exception as error:
        sys.modules.pop(module, None)
        if isinstance(error, DeclarationError):
            raise
        frames = traceback.extract_tb(error.__traceback__)
        own = [f"{frame.filename}:{frame.lineno}" for frame in frames if Path(frame.filename).parent == folder.absolute()]
        raise DeclarationError(f"{own[-1] if own else folder}: {type(error).__name__}: {error}") from None
