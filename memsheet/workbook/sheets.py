"""The sheets that hold the model: Inputs, one a chapter, the Timeline, Checks, and the catalogues."""

import re
from collections.abc import Iterable

from openpyxl import Workbook
from openpyxl.formatting.rule import CellIsRule
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from .. import values
from ..catalogue import Catalogue
from ..model import Cell, Column, Key, Model
from ..quantity import LOOKUPS, Quantity
from . import style
from .places import CHECKS, FIRST_COLUMN, FIRST_ROW, INPUTS, TIMELINE, Block, Place, Places, chapter_sheet
from .wording import Formulas, Wording
from .xlsx import Value, text

#: Longest list of words that Excel takes inside a validation; longer ones point to a sheet.
LONGEST_INLINE_LIST = 255


class Writer:
    """Writes cells to their places and keeps the value of every formula."""

    def __init__(self, workbook: Workbook, places: Places, model: Model, results: dict[Key, object], wording: Wording) -> None:
        self.workbook, self.places, self.model, self.results, self.wording = workbook, places, model, results, wording
        self.printer = Formulas(wording.language)
        self.stored: dict[str, dict[str, Value]] = {}

    def sheet(self, name: str, title: str, subtitle: str = "") -> Worksheet:
        sheet = self.workbook.create_sheet(name)
        put(sheet, "A1", title, style.TITLE)
        if subtitle:
            put(sheet, "A2", subtitle, style.SUBTITLE)
        sheet.sheet_view.showGridLines = False
        sheet.page_setup.paperSize = sheet.PAPERSIZE_A4
        sheet.page_setup.orientation, sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = "landscape", 1, 0
        sheet.sheet_properties.pageSetUpPr.fitToPage = True
        return sheet

    def cells(self) -> None:
        """Write every cell of the model to its place."""
        for key, place in self.places.of.items():
            self.cell(self.model.cells[key], place)

    def cell(self, cell: Cell, place: Place) -> None:
        """Write one cell: a formula with its value, or an input."""
        target = self.workbook[place.sheet].cell(place.row, place.column)
        value = values.shown(cell.quantity, self.results[cell.key])
        target.font, target.number_format = style.BODY, style.number_format(cell.quantity)
        target.alignment = style.RIGHT_WRAPPED if isinstance(value, str) and cell.expression is not None else style.RIGHT
        if cell.expression is not None:
            target.value = "=" + self.printer.text(cell, self.places.fill)
            self.stored.setdefault(place.sheet, {})[place.address] = value  # type: ignore[assignment]
            return
        if isinstance(value, str):
            text(target, value)
        else:
            target.value = value  # type: ignore[assignment]
        low, high = cell.quantity.limits
        if cell.quantity.is_given and cell.key in self.places.model.cells and low != high:  # else there is nothing to choose
            target.font, target.fill, target.border = style.INPUT, style.INPUT_FILL, style.INPUT_BORDER


def put(sheet: Worksheet, address: str, value: str, font: object = style.BODY) -> None:
    """Literal text in a cell."""
    text(sheet[address], value)
    sheet[address].font = font


def heads(sheet: Worksheet, row: int, columns: Iterable[tuple[str, float]]) -> None:
    """The head of a table: (title, width) of each column."""
    for number, (title, width) in enumerate(columns, 1):
        cell = sheet.cell(row, number)
        text(cell, title)
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
        sheet.column_dimensions[get_column_letter(number)].width = width


def model_sheets(writer: Writer) -> None:
    """Inputs and one sheet a chapter: a row for each quantity, the same column for the same role on every sheet."""
    places, say = writer.places, writer.wording.text
    titles = {chapter_sheet(title): _chapter(writer.wording, name, title) for name, title in places.model.declaration.chapters.items()}
    titles[INPUTS] = say("inputs"), say("inputs_about")
    for name, rows in places.rows.items():
        if name == CHECKS:
            continue
        sheet = writer.sheet(name, *titles[name])
        _heading(sheet, places, writer.wording)
        for row_name, row in rows.items():
            if row_name.startswith("# "):
                chapter = row_name[2:]
                put(sheet, f"A{row}", _chapter(writer.wording, chapter, places.model.declaration.chapters[chapter])[0], style.SECTION)
                continue
            quantity = places.model.declaration[row_name]
            unit = "" if quantity.unit.name == "1" else writer.wording.language.word(quantity.unit.name)
            _row_labels(sheet, row, quantity, unit, FIRST_COLUMN + len(places.columns))
        # On paper the sources would make everything else unreadably small; they have a sheet of their own.
        sheet.print_area = f"A1:{get_column_letter(FIRST_COLUMN - 1 + len(places.columns))}{max(rows.values())}"


def _chapter(wording: Wording, name: str, title: str) -> tuple[str, str]:
    """A chapter's title, and what it is about: "States: what stays on a rank"."""
    title, *about = re.split("[:：] ?", wording.language.chapter(name, title), maxsplit=1)
    return title, "".join(text[:1].upper() + text[1:] if text.partition(" ")[0].islower() else text for text in about)


def _heading(sheet: Worksheet, places: Places, wording: Wording) -> None:
    """Which column is whose."""
    row, say = FIRST_ROW - 1, wording.text
    first, last = ((say("quantity"), 58), (say("name"), 30), (say("unit"), 11)), ((say("source"), 60), (say("note"), 50))
    heads(sheet, row, (*first, *((_column_title(wording, column), 17) for column in places.columns), *last))
    sheet.row_dimensions[row].height = 30
    sheet.freeze_panes = sheet.cell(FIRST_ROW, FIRST_COLUMN)
    sheet.print_title_rows = f"{row}:{row}"


def _column_title(wording: Wording, column: Column) -> str:
    kind = "role" if column.role else "process" if column.process else "card" if column.pool else "scenario"
    return wording.text(f"column_{kind}", name=wording.place(column))


def _row_labels(sheet: Worksheet, row: int, quantity: Quantity, unit: str, after: int) -> None:
    for number, (value, font) in enumerate(((quantity.label, style.BODY), (quantity.name, style.NOTE), (unit, style.NOTE)), 1):
        cell = sheet.cell(row, number)
        text(cell, value)
        cell.font = font
    for number, value in enumerate((quantity.source, quantity.note), after):
        if value:
            cell = sheet.cell(row, number)
            text(cell, value)
            cell.font = style.NOTE


def validations(writer: Writer) -> None:
    """Dropdowns of words, limits of numbers, and what a quantity is when its cell is selected."""
    places = writer.places
    made: dict[str, DataValidation] = {}
    for key, cell in places.model.inputs.items():
        place, quantity = places.of[key], cell.quantity
        if quantity.name not in made:
            made[quantity.name] = _validation(quantity, writer.wording.text("cannot_be", name=quantity.name))
            writer.workbook[place.sheet].add_data_validation(made[quantity.name])
        made[quantity.name].add(place.address)


def _validation(quantity: Quantity, error: str) -> DataValidation:
    about = "\n".join(filter(None, (quantity.label, quantity.note)))
    prompt = {"promptTitle": quantity.name[:32], "prompt": about[:255], "showInputMessage": True}
    errors = {"errorTitle": "memsheet", "error": error[:225], "showErrorMessage": True}
    if quantity.catalogue:
        catalogue = quantity.catalogue
        words = f"{quote_sheetname(catalogue.title)}!$A${FIRST_ROW}:$A${FIRST_ROW + len(catalogue.rows) - 1}"
        return DataValidation("list", formula1=words, allow_blank=False, **prompt, **errors)
    if quantity.choices:
        words = '"' + ",".join(quantity.choices) + '"'
        assert len(words) <= LONGEST_INLINE_LIST
        return DataValidation("list", formula1=words, allow_blank=False, **prompt, **errors)
    low, high = quantity.limits
    kind = "whole" if quantity.whole else "decimal"
    between = {"operator": "between", "formula2": f"{high:.15g}"} if high is not None else {"operator": "greaterThanOrEqual"}
    return DataValidation(kind, formula1=f"{low:.15g}", allow_blank=False, **between, **prompt, **errors)


def timeline_sheet(writer: Writer) -> None:
    """One block a card: a row for each instant, a column for each component; bytes."""
    places, say = writer.places, writer.wording.text
    sheet = writer.sheet(TIMELINE, say("timeline"), say("timeline_about"))
    sheet.column_dimensions["A"].width = 30
    for block in places.blocks:
        _block_heading(writer, sheet, block)
    for key, place in places.of.items():
        if place.sheet == TIMELINE and not key.column.role:
            sheet[place.address].fill = style.TOTAL_FILL
    sheet.freeze_panes = "B3"


def _block_heading(writer: Writer, sheet: Worksheet, block: Block) -> None:
    model, wording = writer.places.model, writer.wording
    labels = {instant.name: instant.label for instant in model.layout.instants}
    put(sheet, f"A{block.top}", wording.text("column_card", name=wording.place(block.card)), style.SECTION)
    put(sheet, f"A{block.first_row - 1}", wording.text("instant"), style.STRONG)
    for number, (row, column) in enumerate(block.columns, 2):
        label = wording.component(model, row, column.role) if column.role else model.declaration[row].label
        above = sheet.cell(block.first_row - 2, number)
        process, role = map(wording.language.word, (column.process, column.role))
        text(above, wording.text("process_role", process=process, role=role) if role else process or wording.text("whole_card"))
        above.font, above.alignment = style.NOTE, style.CENTRE
        head = sheet.cell(block.first_row - 1, number)
        text(head, label)
        head.font, head.fill, head.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
        sheet.column_dimensions[get_column_letter(number)].width = 19
    sheet.row_dimensions[block.first_row - 1].height = 45
    for instant in block.instants:
        put(sheet, f"A{block.first_row + block.instants.index(instant)}", labels[instant], style.STRONG)


def checks_sheet(writer: Writer) -> None:
    """What must hold for the formulas to cover this configuration, and when an estimate is less sure."""
    places, say, word = writer.places, writer.wording.text, writer.wording.language.word
    sheet = writer.sheet(CHECKS, say("checks"), say("checks_about"))
    heads(sheet, FIRST_ROW - 1, ((say("what"), 100), (say("where"), 24), (say("result"), 16), (say("source"), 60)))
    last = FIRST_ROW
    for key in places.model.checks():
        place, quantity = places.of[key], places.model.cells[key].quantity
        put(sheet, f"A{place.row}", say(f"when_{quantity.severity}", label=quantity.label))
        put(sheet, f"B{place.row}", writer.wording.place(key.column), style.NOTE)
        put(sheet, f"D{place.row}", quantity.source, style.NOTE)
        last = max(last, place.row)
    colours(sheet, f"C{FIRST_ROW}:C{last}", good=word("ok"), warning=word("less sure"), bad=word("not covered"))
    sheet.freeze_panes = sheet.cell(FIRST_ROW, 1)


def colours(sheet: Worksheet, area: str, *, good: str, warning: str, bad: str) -> None:
    """Green, yellow and red for three words."""
    for word, fill in ((good, style.GOOD_FILL), (warning, style.WARNING_FILL), (bad, style.BAD_FILL)):
        sheet.conditional_formatting.add(area, CellIsRule(operator="equal", formula=[f'"{word}"'], fill=fill))


def catalogue_sheets(writer: Writer) -> None:
    """The tables behind the lookups, each row with its source."""
    used = {cell.quantity.lookup.args[1] for cell in writer.places.model.cells.values() if cell.quantity.lookup is not None}
    options = {cell.quantity.catalogue for cell in writer.places.model.inputs.values() if cell.quantity.catalogue}
    catalogues = {LOOKUPS[int(number)][0].name: LOOKUPS[int(number)][0] for number in used} | {c.name: c for c in options}
    for name in sorted(catalogues):
        _catalogue_sheet(writer, catalogues[name])


def _catalogue_sheet(writer: Writer, catalogue: Catalogue) -> None:
    say, language = writer.wording.text, writer.wording.language
    sheet = writer.sheet(catalogue.title, language.word(catalogue.title), say("catalogue_about"))
    rows = writer.places.model.declaration.rows.values()
    read = {LOOKUPS[int(row.lookup.args[1])]: row.label for row in rows if row.lookup is not None}
    labels = [read.get((catalogue, name)) or language.word(column.label) for name, column in catalogue.columns.items()]
    heads(sheet, FIRST_ROW - 1, ((say("word"), 18), (say("full_name"), 34), *((label, 18) for label in labels), (say("source"), 110)))
    sheet.row_dimensions[FIRST_ROW - 1].height = 58
    for row, (word, figures) in enumerate(catalogue.rows.items(), FIRST_ROW):
        put(sheet, f"A{row}", word, style.STRONG)
        put(sheet, f"B{row}", catalogue.labels[word])
        for number, value in enumerate(figures.values(), 3):
            cell = sheet.cell(row, number, value)
            cell.font, cell.number_format = style.BODY, "#,##0" if float(value).is_integer() else "#,##0.0##"
        source = sheet.cell(row, len(labels) + 3)
        text(source, catalogue.sources[word])
        source.font = style.NOTE
    sheet.freeze_panes = sheet.cell(FIRST_ROW, 3)
