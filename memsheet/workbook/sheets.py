"""The sheets that hold the model: Inputs, one a chapter, the Timeline, Checks, and the catalogues."""

from openpyxl import Workbook
from openpyxl.formatting.rule import CellIsRule
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from .. import values
from ..catalogue import Catalogue
from ..declare import LOOKUPS, Quantity
from ..model import Cell, Column, Key, Model
from ..printers.excel import Excel
from . import style
from .places import CHECKS, FIRST_COLUMN, FIRST_ROW, INPUTS, TIMELINE, Block, Place, Places, chapter_sheet
from .xlsx import Value, text

#: Longest list of words that Excel takes inside a validation; longer ones point to a sheet.
LONGEST_INLINE_LIST = 255


class Writer:
    """Writes cells to their places and keeps the value of every formula."""

    def __init__(self, workbook: Workbook, places: Places, model: Model, results: dict[Key, object]) -> None:
        self.workbook, self.places, self.model, self.results = workbook, places, model, results
        self.printer = Excel()
        self.stored: dict[str, dict[str, Value]] = {}

    def sheet(self, name: str, title: str, subtitle: str = "") -> Worksheet:
        sheet = self.workbook.create_sheet(name)
        put(sheet, "A1", title, style.TITLE)
        if subtitle:
            put(sheet, "A2", subtitle, style.SUBTITLE)
        sheet.sheet_view.showGridLines = False
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
        if cell.quantity.is_given and cell.key in self.places.model.cells:
            target.font, target.fill, target.border = style.INPUT, style.INPUT_FILL, style.INPUT_BORDER


def put(sheet: Worksheet, address: str, value: str, font: object = style.BODY) -> None:
    """Literal text in a cell."""
    text(sheet[address], value)
    sheet[address].font = font


def model_sheets(writer: Writer) -> None:
    """Inputs and one sheet a chapter: a row for each quantity, the same column for the same role on every sheet."""
    places = writer.places
    titles = places.model.declaration.chapters
    for name, rows in places.rows.items():
        if name == CHECKS:
            continue
        chapter = next((chapter for chapter, title in titles.items() if chapter_sheet(title) == name), "")
        subtitle = titles[chapter].partition(":")[2].strip().capitalize() if chapter else "Yellow cells may be changed; everything else follows."
        sheet = writer.sheet(name, titles[chapter].partition(":")[0] if chapter else INPUTS, subtitle)
        _heading(sheet, places)
        for row_name, row in rows.items():
            if row_name.startswith("# "):
                put(sheet, f"A{row}", titles[row_name[2:]].partition(":")[0], style.SECTION)
                continue
            quantity = places.model.declaration[row_name]
            _row_labels(sheet, row, quantity, FIRST_COLUMN + len(places.columns))
        # On paper the sources would make everything else unreadably small; they have a sheet of their own.
        sheet.print_area = f"A1:{get_column_letter(FIRST_COLUMN - 1 + len(places.columns))}{max(rows.values())}"


def _heading(sheet: Worksheet, places: Places) -> None:
    """Which column is whose."""
    row = FIRST_ROW - 1
    titles = ["Quantity", "Name", "Unit", *(_column_title(column) for column in places.columns), "Source", "Note"]
    for number, title in enumerate(titles, 1):
        cell = sheet.cell(row, number)
        text(cell, title)
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
    widths = [58, 30, 11, *(17 for _ in places.columns), 60, 50]
    for number, width in enumerate(widths, 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
    sheet.row_dimensions[row].height = 30
    sheet.freeze_panes = sheet.cell(FIRST_ROW, FIRST_COLUMN)
    sheet.print_title_rows = f"{row}:{row}"


def _column_title(column: Column) -> str:
    if not any(column):
        return "Scenario"
    kind = "role" if column.role else "process" if column.process else "card"
    return f"{kind} {column}"


def _row_labels(sheet: Worksheet, row: int, quantity: Quantity, after: int) -> None:
    for number, (value, font) in enumerate(
        ((quantity.label, style.BODY), (quantity.name, style.NOTE), (quantity.unit.name if quantity.unit.name != "1" else "", style.NOTE)), 1
    ):  # fmt: skip
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
            made[quantity.name] = _validation(quantity)
            writer.workbook[place.sheet].add_data_validation(made[quantity.name])
        made[quantity.name].add(place.address)


def _validation(quantity: Quantity) -> DataValidation:
    prompt = {"promptTitle": quantity.name[:32], "prompt": (quantity.note or quantity.label)[:255], "showInputMessage": True}
    errors = {"errorTitle": "memsheet", "error": f"{quantity.name} cannot be that."[:225], "showErrorMessage": True}
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
    places = writer.places
    sheet = writer.sheet(TIMELINE, "Timeline", "Bytes on one card at each instant. An empty cell: not on the card then.")
    sheet.column_dimensions["A"].width = 30
    for block in places.blocks:
        _block_heading(writer, sheet, block)
    for key, place in places.of.items():
        if place.sheet == TIMELINE and not key.column.role:
            sheet[place.address].fill = style.TOTAL_FILL
    sheet.freeze_panes = "B3"


def _block_heading(writer: Writer, sheet: Worksheet, block: Block) -> None:
    model = writer.places.model
    labels = {instant.name: instant.label for instant in model.layout.instants}
    put(sheet, f"A{block.top}", f"Card: {block.card}", style.SECTION)
    put(sheet, f"A{block.first_row - 1}", "Instant", style.STRONG)
    for number, (row, column) in enumerate(block.columns, 2):
        quantity = model.declaration[row]
        label = f"{quantity.label}, {column.role}" if column.role and len(model.layout.roles) > 1 else quantity.label
        above = sheet.cell(block.first_row - 2, number)
        text(above, f"{column.process}: {column.role}" if column.role else column.process or "card")
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
    places = writer.places
    sheet = writer.sheet(CHECKS, "Checks", "All must be ok. 'not covered': the figures do not hold; 'less sure': they are a first cut.")
    for number, (title, width) in enumerate((("What", 100), ("Where", 24), ("Result", 16), ("Source", 60)), 1):
        cell = sheet.cell(FIRST_ROW - 1, number)
        text(cell, title)
        cell.font, cell.fill = style.HEAD, style.HEAD_FILL
        sheet.column_dimensions[get_column_letter(number)].width = width
    last = FIRST_ROW
    for key in places.model.checks():
        place, quantity = places.of[key], places.model.cells[key].quantity
        put(sheet, f"A{place.row}", f"Not covered when {quantity.label}" if quantity.severity == "refuse" else f"Less sure: {quantity.label}")
        put(sheet, f"B{place.row}", str(key.column), style.NOTE)
        put(sheet, f"D{place.row}", quantity.source, style.NOTE)
        last = max(last, place.row)
    colours(sheet, f"C{FIRST_ROW}:C{last}", good="ok", warning="less sure", bad="not covered")
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
    sheet = writer.sheet(catalogue.title, catalogue.title, "What the lookups on Inputs read.")
    titles = ["Word", "Full name", *(column.label for column in catalogue.columns.values()), "Source"]
    for number, title in enumerate(titles, 1):
        cell = sheet.cell(FIRST_ROW - 1, number)
        text(cell, title)
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
        sheet.column_dimensions[get_column_letter(number)].width = 18 if number > 2 else (18, 34)[number - 1]
    sheet.row_dimensions[FIRST_ROW - 1].height = 58
    sheet.column_dimensions[get_column_letter(len(titles))].width = 110
    for row, (word, figures) in enumerate(catalogue.rows.items(), FIRST_ROW):
        put(sheet, f"A{row}", word, style.STRONG)
        put(sheet, f"B{row}", catalogue.labels[word])
        for number, value in enumerate(figures.values(), 3):
            cell = sheet.cell(row, number, value)
            cell.font, cell.number_format = style.BODY, "#,##0" if float(value).is_integer() else "#,##0.0##"
        source = sheet.cell(row, len(titles))
        text(source, catalogue.sources[word])
        source.font = style.NOTE
    sheet.freeze_panes = sheet.cell(FIRST_ROW, 3)
