"""The sheets for readers: Summary with its chart, Measured, Sources, About. They only point to the model's cells."""

from openpyxl.chart import BarChart, LineChart, Reference, Series
from openpyxl.chart.data_source import StrRef
from openpyxl.chart.series import SeriesLabel
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.worksheet import Worksheet

from .. import __version__
from ..model import Column, Key
from . import style
from .places import Place
from .sheets import Writer, colours, put
from .views import HEADLINES, MEASURED, SUMMARY, Views, series_of
from .xlsx import text

#: The Summary's rows: title, description, the panel from here, then a block for each card.
PANEL_ROW = 5
STATISTICS_AFTER = 1
CHART_HEIGHT = 18  # rows


def place_summary(views: Views, inputs: dict[Key, Place]) -> dict[Key, Place]:
    """Where the Summary's cells stand: a panel with a column for each card, then a table for each card.

    The buyer's reserve is an input of the panel, so it changes places with the cell that shows it: Inputs points here.
    """
    cards = views.scenario.model.layout.cards
    found = {Key(f"{SUMMARY}.status", Column()): Place(SUMMARY, PANEL_ROW + len(HEADLINES) + 1, 2)}
    for number, meaning in enumerate(HEADLINES, PANEL_ROW + 1):
        for column, card in enumerate(cards, 2):
            found[Key(f"{SUMMARY}.{meaning}", card)] = Place(SUMMARY, number, column)
    for card in cards:
        for name, column in _table_columns(views, card).items():
            for row, instant in enumerate(views.scenario.model.layout.instants, _table_top(views, card) + 2):
                key = Key(name, card._replace(instant=instant.name))
                if key in views.cells:
                    found[key] = Place(SUMMARY, row, column)
    reserve, shown = views.scenario.model.headline("reserve")[0], Key(f"{SUMMARY}.reserve", cards[0])
    found[reserve], found[shown] = found[shown], inputs[reserve]
    return found


def _table_top(views: Views, card: Column) -> int:
    layout = views.scenario.model.layout
    height = max(len(layout.instants) + 3, 0) + CHART_HEIGHT + 2
    return PANEL_ROW + len(HEADLINES) + 4 + layout.cards.index(card) * height


def _table_columns(views: Views, card: Column) -> dict[str, int]:
    names = [f"{SUMMARY}.series.{series}" for series in series_of(views, card)]
    names += [f"{SUMMARY}.statistic.{name}" for name in views.scenario.model.declaration.statistics]
    return {name: number for number, name in enumerate([*names, f"{SUMMARY}.capacity"], 2)}


def summary_sheet(writer: Writer, views: Views) -> None:
    scenario, cards = views.scenario, views.scenario.model.layout.cards
    sheet = writer.sheet(SUMMARY, scenario.title, scenario.description)
    put(sheet, f"A{PANEL_ROW}", "Answer", style.SECTION)
    for column, card in enumerate(cards, 2):
        put(sheet, f"{get_column_letter(column)}{PANEL_ROW}", f"Card {card}" if len(cards) > 1 else "", style.STRONG)
    for number, meaning in enumerate(HEADLINES, PANEL_ROW + 1):
        quantity = views.cells[Key(f"{SUMMARY}.{meaning}", cards[0])].quantity
        unit = f" ({quantity.unit.name})" if quantity.unit.name == "GiB" else ""
        put(sheet, f"A{number}", quantity.label + unit, style.STRONG)
    put(sheet, f"A{PANEL_ROW + len(HEADLINES) + 1}", "Checks", style.STRONG)
    verdicts = f"B{PANEL_ROW + 1}:{get_column_letter(1 + len(cards))}{PANEL_ROW + 1}"
    words = views.cells[Key(f"{SUMMARY}.verdict", cards[0])].quantity.choices
    for word in words[1:-1]:
        colours(sheet, verdicts, good=words[-1], warning=word, bad=words[0])
    status = Place(SUMMARY, PANEL_ROW + len(HEADLINES) + 1, 2).address
    good, warning, bad = views.cells[Key(f"{SUMMARY}.status", Column())].quantity.choices
    colours(sheet, status, good=good, warning=warning, bad=bad)
    sheet.row_dimensions[PANEL_ROW + 1].height = 32
    sheet.column_dimensions["A"].width = 44
    for number in range(2, 16):
        sheet.column_dimensions[get_column_letter(number)].width = 24 if number < 2 + len(cards) else 15
    for card in cards:
        _card_table(writer, sheet, views, card)


def _card_table(writer: Writer, sheet: Worksheet, views: Views, card: Column) -> None:
    top, columns = _table_top(views, card), _table_columns(views, card)
    put(sheet, f"A{top}", f"What is on {_card_name(views, card)} at each instant, GiB (2^30 bytes)", style.SECTION)
    put(sheet, f"A{top + 1}", "Instant", style.STRONG)
    for name, column in columns.items():
        cell = sheet.cell(top + 1, column)
        text(cell, _title(views, name))
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
    sheet.row_dimensions[top + 1].height = 32
    for row, instant in enumerate(views.scenario.model.layout.instants, top + 2):
        put(sheet, f"A{row}", instant.label, style.STRONG)
        for name, column in columns.items():
            if not name.startswith(f"{SUMMARY}.series."):
                sheet.cell(row, column).fill = style.TOTAL_FILL
    sheet.add_chart(_chart(views, card), f"A{top + len(views.scenario.model.layout.instants) + 3}")


def _card_name(views: Views, card: Column) -> str:
    return f"card {card}" if len(views.scenario.model.layout.cards) > 1 else "the card"


def _title(views: Views, name: str) -> str:
    kind, _, subject = name.removeprefix(f"{SUMMARY}.").partition(".")
    if kind == "statistic":
        return views.scenario.model.declaration[views.scenario.model.declaration.statistics[subject]].label
    return subject if kind == "series" else "Card, CUDA's total"


def _chart(views: Views, card: Column) -> BarChart:
    """Stacked components of each instant, with lines for what the device shows and for the card."""
    top, columns = _table_top(views, card), _table_columns(views, card)
    first, last = top + 2, top + 1 + len(views.scenario.model.layout.instants)
    sheet = quote_sheetname(SUMMARY)

    def area(column: int) -> str:
        letter = get_column_letter(column)
        return f"{sheet}!${letter}${first}:${letter}${last}"

    def series(name: str, column: int) -> Series:
        made = Series(area(column), title=None)
        made.tx = SeriesLabel(strRef=StrRef(f"{sheet}!${get_column_letter(column)}${top + 1}"))
        return made

    bars, lines = BarChart(), LineChart()
    bars.type, bars.grouping, bars.overlap, bars.gapWidth = "col", "stacked", 100, 40
    bars.title, bars.y_axis.title = f"Memory on {_card_name(views, card)}", "GiB (2^30 bytes)"
    colour = iter(style.SERIES_COLOURS)
    for name, column in columns.items():
        made = series(name, column)
        if name.startswith(f"{SUMMARY}.series."):
            made.graphicalProperties.solidFill = next(colour)
            bars.series.append(made)
        elif name in (f"{SUMMARY}.capacity", f"{SUMMARY}.statistic.device"):
            made.graphicalProperties.line.solidFill = "111827" if name == f"{SUMMARY}.capacity" else "B91C1C"
            made.graphicalProperties.line.width = 22000
            made.marker.symbol, made.smooth = "none", False
            lines.series.append(made)
    bars.set_categories(Reference(_Titled(SUMMARY), min_col=1, min_row=first, max_row=last))
    bars.y_axis.number_format, bars.y_axis.delete, bars.x_axis.delete = "0", False, False
    bars.legend.position = "r"
    bars += lines
    bars.width, bars.height = 32, 9.5
    return bars


class _Titled:
    """What openpyxl's Reference asks of a sheet: its title."""

    def __init__(self, title: str) -> None:
        self.title = title


MEASURED_COLUMNS = {
    "Record": 70, "Phase": 16, "Statistic": 12, "Process": 12, "Measured, GiB": 15, "Predicted, GiB": 15,
    "Difference, GiB": 15, "Difference, %": 13, "Kind": 10, "Note": 60, "Where and when": 40, "Source": 60,
}  # fmt: skip
MEASURED_TOP = 5


def place_measured(views: Views) -> dict[Key, Place]:
    return {
        Key(f"{MEASURED}.{what}", Column(role=str(number))): Place(MEASURED, MEASURED_TOP + number, column)
        for number in range(len(views.pairs))
        for column, what in enumerate(("measured", "predicted", "difference", "error"), 5)
        if Key(f"{MEASURED}.{what}", Column(role=str(number))) in views.cells
    }


def measured_sheet(writer: Writer, views: Views) -> None:
    subtitle = "Values read on real GPUs, GiB (2^30 bytes). A record stands here only where every setting that it states is the scenario's."
    sheet = writer.sheet(MEASURED, "Measured beside predicted", subtitle)
    for number, (title, width) in enumerate(MEASURED_COLUMNS.items(), 1):
        cell = sheet.cell(MEASURED_TOP - 1, number)
        text(cell, title)
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
        sheet.column_dimensions[get_column_letter(number)].width = width
    for row, pair in enumerate(views.pairs, MEASURED_TOP):
        record, figure = pair.record, pair.figure
        where = "; ".join(filter(None, (record.where, record.when)))
        texts = {1: record.title, 2: figure.phase, 3: figure.statistic, 4: figure.process, 9: figure.bound or "reading",
                 10: figure.note, 11: where, 12: record.source}  # fmt: skip
        for column, value in texts.items():
            cell = sheet.cell(row, column)
            text(cell, value)
            cell.font = style.BODY if column < 10 else style.NOTE
    if not views.pairs:
        put(sheet, f"A{MEASURED_TOP}", "No record has these settings.", style.NOTE)
    sheet.freeze_panes = sheet.cell(MEASURED_TOP, 2)
    sheet.print_area = f"A1:I{MEASURED_TOP + len(views.pairs)}"


def sources_sheet(writer: Writer, views: Views) -> None:
    sheet = writer.sheet("Sources", "Sources", "Where every figure and formula comes from.")
    for number, (title, width) in enumerate((("Quantity", 46), ("Name", 30), ("Sheet", 20), ("Source", 110), ("Note", 60)), 1):
        cell = sheet.cell(4, number)
        text(cell, title)
        cell.font, cell.fill = style.HEAD, style.HEAD_FILL
        sheet.column_dimensions[get_column_letter(number)].width = width
    declaration = views.scenario.model.declaration
    used = dict.fromkeys(key.row for key in views.scenario.model.cells)
    row = 5
    for name, quantity in declaration.rows.items():
        if name in used and (quantity.source or quantity.note):
            chapter = declaration.chapters[quantity.chapter].partition(":")[0]
            for column, value in enumerate((quantity.label, name, chapter, quantity.source, quantity.note), 1):
                cell = sheet.cell(row, column)
                text(cell, value)
                cell.font = style.BODY if column == 1 else style.NOTE
            row += 1
    sheet.freeze_panes = "A5"


def about_sheet(writer: Writer, views: Views) -> None:
    scenario = views.scenario
    layout = scenario.model.layout
    sheet = writer.sheet("About", "About this workbook")
    lines: list[tuple[str, str]] = [
        ("Made by", f"memsheet {__version__}, from the scenario {scenario.name}"),
        ("Question", "How much GPU memory does this need, and which cards are enough?"),
        ("Not answered", "Speed and time: memsheet says what fits, not how fast it runs."),
        ("Live", "Every yellow cell on Inputs: change it and all sheets follow. Words are chosen from their lists."),
        ("Structural", "The roles, their processes and pools, the schedule and the pipeline columns: rebuild the workbook to change these."),
        ("Schedule", f"{scenario.schedule.title} ({scenario.schedule.source})"),
        ("Roles", "; ".join(f"{role.name} in process {role.process} on pool {role.pool}" for role in layout.roles)),
        ("Units", "Bytes on the calculation sheets; GiB (2^30 bytes) on Summary and Measured."),
        ("Allocated", "What torch.cuda.max_memory_allocated would read: the tensors."),
        ("Reserved", "What torch.cuda.max_memory_reserved would read: allocated, and what the caching allocator keeps."),
        ("Device", "What nvidia-smi would show for the card: reserved by all processes, and their CUDA contexts."),
        ("Colours", "Yellow with blue text: input. White: formula. Grey: total. Green, yellow, red: result of a check."),
        *(("Assumption", text) for text in scenario.assumptions),
        *(("Less sure", text) for text in scenario.cautions()),
    ]
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 18, 120
    for row, (title, body) in enumerate(lines, 3):
        put(sheet, f"A{row}", title, style.STRONG)
        put(sheet, f"B{row}", body)
        sheet[f"B{row}"].alignment = style.WRAP
