"""Workbooks: a scenario's cells as a live Excel file, each formula with its calculated value beside it."""

from pathlib import Path

from openpyxl import Workbook
from openpyxl.utils import quote_sheetname
from openpyxl.workbook.defined_name import DefinedName

from ..language import load
from ..scenario import Scenario
from . import front, places, sheets, views, xlsx
from .places import Places
from .views import Views


def write(scenario: Scenario, path: Path, language: str = "en") -> None:
    """Write a scenario's workbook. The file appears whole or not at all; the same scenario gives the same bytes.

    Raises LanguageError for a language that there is not, OSError where the file cannot be written.
    """
    workbook, stored, _ = build(scenario, language)
    xlsx.save(workbook, path, stored)


def contents(scenario: Scenario, language: str = "en") -> bytes:
    """The same bytes without a file, to be attached to a report."""
    workbook, stored, _ = build(scenario, language)
    return xlsx.contents(workbook, stored)


def build(scenario: Scenario, language: str = "en") -> tuple[Workbook, dict[str, dict[str, xlsx.Value]], Places]:
    """The openpyxl workbook, the value of each formula cell, and where every cell stands: the same in every language."""
    shown = views.build(scenario, load(language))
    placed = places.assign(shown.base)
    placed.of |= front.place_summary(shown, placed.of) | front.place_measured(shown)
    workbook = Workbook()
    workbook.remove(workbook.active)
    writer = sheets.Writer(workbook, placed, shown.model(), shown.values(), shown.wording)
    front.summary_sheet(writer, shown)
    sheets.model_sheets(writer)
    sheets.timeline_sheet(writer)
    front.measured_sheet(writer, shown)
    sheets.checks_sheet(writer)
    sheets.catalogue_sheets(writer)
    front.sources_sheet(writer, shown)
    front.about_sheet(writer, shown)
    writer.cells()
    sheets.validations(writer)
    _order(workbook)
    _names(workbook, shown, placed)
    workbook.properties.title, workbook.properties.creator = scenario.title, "memsheet"
    return workbook, writer.stored, placed


def _order(workbook: Workbook) -> None:
    """Summary, Inputs, Timeline and Measured first: what most readers want."""
    first = [views.SUMMARY, places.INPUTS, places.TIMELINE, views.MEASURED]
    workbook._sheets.sort(key=lambda sheet: first.index(sheet.title) if sheet.title in first else len(first))
    workbook.active = 0


def _names(workbook: Workbook, shown: Views, placed: Places) -> None:
    """Names for the single cells that a planner quotes: =peak, =headroom."""
    model = shown.base
    for meaning in views.HEADLINES:
        for key in model.headline(meaning):
            place = placed.of[key]
            pool = key.column.pool if len(model.layout.pools) > 1 else ""
            name = "_".join(filter(None, (model.declaration.headline[meaning], pool, key.column.stage)))
            workbook.defined_names[name] = DefinedName(name, attr_text=f"{quote_sheetname(place.sheet)}!{place.absolute()}")
