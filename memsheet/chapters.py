"""Chapters: the formula files of a folder, imported in order, each row named after its variable."""

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

import sympy

from .quantity import TABLE, Declaration, DeclarationError, Quantity, quantity_of


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
