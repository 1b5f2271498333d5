"""The sheets for readers: Summary with its chart, Measured, Sources, About. They only point to the model's cells."""

from openpyxl.chart import BarChart, LineChart, Reference, Series
from openpyxl.chart.data_source import StrRef
from openpyxl.chart.series import SeriesLabel
from openpyxl.utils import get_column_letter, quote_sheetname
from openpyxl.worksheet.worksheet import Worksheet

from .. import __version__
from ..model import Column, Key
from . import style
from .places import Place, chapter_sheet
from .sheets import Writer, colours, heads, put
from .views import ASKED, HEADLINES, MEASURED, SUMMARY, Views, gibibyte, series_of
from .xlsx import text

#: The Summary's rows: title, description, the panel from here, then a block for each card.
PANEL_ROW = 5
CHART_HEIGHT = 23  # rows
ASKED_WIDTH = 2  # columns that a label of a stated input may run over


def place_summary(views: Views, inputs: dict[Key, Place]) -> dict[Key, Place]:
    """Where the Summary's cells stand: a panel with a column for each card, then a table for each card.

    The buyer's reserve is an input of the panel, so it changes places with the cell that shows it: Inputs points here.
    """
    cards = views.base.layout.cards
    found = {Key(f"{SUMMARY}.status", Column()): Place(SUMMARY, PANEL_ROW + len(HEADLINES) + 1, 2)}
    for number, meaning in enumerate(HEADLINES, PANEL_ROW + 1):
        for column, card in enumerate(cards, 2):
            found[Key(f"{SUMMARY}.{meaning}", card)] = Place(SUMMARY, number, column)
    for card in cards:
        for name, column in _table_columns(views, card).items():
            for row, instant in enumerate(views.base.layout.instants, _table_top(views, card) + 2):
                key = Key(name, card._replace(instant=instant.name))
                if key in views.cells:
                    found[key] = Place(SUMMARY, row, column)
    found |= {key: Place(SUMMARY, row, column + ASKED_WIDTH) for key, (row, column) in _asked_labels(views).items()}
    reserve, shown = views.base.headline("reserve")[0], Key(f"{SUMMARY}.reserve", cards[0])
    found[reserve], found[shown] = found[shown], inputs[reserve]
    return found


def _asked_labels(views: Views) -> dict[Key, tuple[int, int]]:
    """Row and column of the label of each stated input: right of the panel, in as many strips as they need."""
    keys = [key for key in views.cells if key.row.startswith(ASKED)]
    height, first = len(HEADLINES) + 1, 3 + len(views.base.layout.cards)
    return {
        key: (PANEL_ROW + 1 + number % height, first + number // height * (ASKED_WIDTH + 2)) for number, key in enumerate(keys)
    }  # fmt: skip


def _table_top(views: Views, card: Column) -> int:
    layout = views.base.layout
    height = max(len(layout.instants) + 3, 0) + CHART_HEIGHT + 2
    return PANEL_ROW + len(HEADLINES) + 4 + layout.cards.index(card) * height


def _table_columns(views: Views, card: Column) -> dict[str, int]:
    names = [f"{SUMMARY}.series.{series}" for series in series_of(views, card)]
    names += [f"{SUMMARY}.statistic.{name}" for name in views.base.declaration.statistics]
    return {name: number for number, name in enumerate([*names, f"{SUMMARY}.needed", f"{SUMMARY}.capacity"], 2)}


def summary_sheet(writer: Writer, views: Views) -> None:
    scenario, cards, say = views.scenario, views.base.layout.cards, views.wording.text
    sheet = writer.sheet(SUMMARY, scenario.title, scenario.description)
    put(sheet, f"A{PANEL_ROW}", say("answer"), style.SECTION)
    for column, card in enumerate(cards, 2):
        head = say("column_card", name=views.wording.place(card)) if len(cards) > 1 else ""
        put(sheet, f"{get_column_letter(column)}{PANEL_ROW}", head, style.STRONG)
    for number, meaning in enumerate(HEADLINES, PANEL_ROW + 1):
        quantity = views.cells[Key(f"{SUMMARY}.{meaning}", cards[0])].quantity
        label = say("in_gib", label=quantity.label) if quantity.unit == gibibyte else quantity.label
        put(sheet, f"A{number}", label, style.STRONG)
    put(sheet, f"A{PANEL_ROW + len(HEADLINES) + 1}", say("checks"), style.STRONG)
    verdicts = f"B{PANEL_ROW + 1}:{get_column_letter(1 + len(cards))}{PANEL_ROW + 1}"
    words = views.cells[Key(f"{SUMMARY}.verdict", cards[0])].quantity.choices
    worst, *tight, best, not_covered = words
    for word in tight:
        colours(sheet, verdicts, good=best, warning=word, bad=worst)
    colours(sheet, verdicts, good=best, warning=tight[0], bad=not_covered)
    asked = _asked_labels(views)
    for number, (key, (row, column)) in enumerate(asked.items()):
        if number == 0:
            put(sheet, f"{get_column_letter(column)}{PANEL_ROW}", say("asked"), style.SECTION)
        owner = key.column.role or key.column.process or key.column.pool
        name = key.row.removeprefix(ASKED)  # as a scenario file and --set call it
        put(sheet, f"{get_column_letter(column)}{row}", f"{owner}.{name}" if owner else name)
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
    top, columns, say = _table_top(views, card), _table_columns(views, card), views.wording.text
    put(sheet, f"A{top}", say("on_card", card=_card_name(views, card)), style.SECTION)
    put(sheet, f"A{top + 1}", say("instant"), style.STRONG)
    for name, column in columns.items():
        cell = sheet.cell(top + 1, column)
        text(cell, _title(views, name))
        cell.font, cell.fill, cell.alignment = style.HEAD, style.HEAD_FILL, style.CENTRE
    sheet.row_dimensions[top + 1].height = 32
    for row, instant in enumerate(views.base.layout.instants, top + 2):
        put(sheet, f"A{row}", instant.label, style.STRONG)
        for name, column in columns.items():
            if not name.startswith(f"{SUMMARY}.series."):
                sheet.cell(row, column).fill = style.TOTAL_FILL
    sheet.add_chart(_chart(views, card), f"A{top + len(views.base.layout.instants) + 3}")


def _card_name(views: Views, card: Column) -> str:
    name = views.wording.place(card)
    return views.wording.text("one_card", name=name) if len(views.base.layout.cards) > 1 else views.wording.text("the_card")


def _title(views: Views, name: str) -> str:
    kind, _, subject = name.removeprefix(f"{SUMMARY}.").partition(".")
    if kind == "needed":
        return next(cell.quantity.label for key, cell in views.cells.items() if key.row == name)
    if kind == "statistic":
        return views.base.declaration[views.base.declaration.statistics[subject]].label
    return views.wording.language.series(subject) if kind == "series" else views.wording.text("capacity")


def _chart(views: Views, card: Column) -> BarChart:
    """Stacked components of each instant, with lines for what the device shows and for the card."""
    top, columns = _table_top(views, card), _table_columns(views, card)
    first, last = top + 2, top + 1 + len(views.base.layout.instants)
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
    bars.title, bars.y_axis.title = views.wording.text("chart_title", card=_card_name(views, card)), views.wording.text("chart_axis")
    colour = dict(zip((f"{SUMMARY}.series.{name}" for name in views.base.declaration.series_names()), style.SERIES_COLOURS, strict=False))
    for name, column in columns.items():
        made = series(name, column)
        if name.startswith(f"{SUMMARY}.series."):
            made.graphicalProperties.solidFill = colour.get(name, style.QUIET)
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
    bars.width, bars.height = 32, 11.5
    return bars


class _Titled:
    """What openpyxl's Reference asks of a sheet: its title."""

    def __init__(self, title: str) -> None:
        self.title = title


#: Keys of the heads, and widths.
MEASURED_COLUMNS = {
    "record": 70, "phase": 16, "statistic": 12, "process": 12, "measured_value": 15, "predicted_value": 15,
    "difference": 15, "difference_share": 13, "kind": 10, "note": 60, "where_and_when": 40, "source": 60,
}  # fmt: skip
#: How a record gives a figure -> the key of its word.
KINDS = {"": "reading", "about": "about", "at least": "at_least"}
MEASURED_TOP = 5


def place_measured(views: Views) -> dict[Key, Place]:
    return {
        Key(f"{MEASURED}.{what}", Column(role=str(number))): Place(MEASURED, MEASURED_TOP + number, column)
        for number in range(len(views.pairs))
        for column, what in enumerate(("measured", "predicted", "difference", "error"), 5)
        if Key(f"{MEASURED}.{what}", Column(role=str(number))) in views.cells
    }


def measured_sheet(writer: Writer, views: Views) -> None:
    wording, say = views.wording, views.wording.text
    sheet = writer.sheet(MEASURED, say("measured"), say("measured_about"))
    heads(sheet, MEASURED_TOP - 1, ((say(key), width) for key, width in MEASURED_COLUMNS.items()))
    for row, pair in enumerate(views.pairs, MEASURED_TOP):
        record, figure = pair.record, pair.figure
        where = say("semicolon").join(filter(None, (record.where, record.when)))
        statistic, process = map(wording.language.word, (figure.statistic, figure.process))
        texts = {1: record.title, 2: wording.phase(views.base, figure.phase), 3: statistic, 4: process, 9: say(KINDS[figure.bound]),
                 10: figure.note, 11: where, 12: record.source}  # fmt: skip
        for column, value in texts.items():
            cell = sheet.cell(row, column)
            text(cell, value)
            cell.font = style.BODY if column < 10 else style.NOTE
    if not views.pairs:
        put(sheet, f"A{MEASURED_TOP}", say("no_record"), style.NOTE)
    sheet.freeze_panes = sheet.cell(MEASURED_TOP, 2)
    sheet.print_area = f"A1:I{MEASURED_TOP + len(views.pairs)}"


def sources_sheet(writer: Writer, views: Views) -> None:
    say = views.wording.text
    sheet = writer.sheet("Sources", say("sources"), say("sources_about"))
    heads(sheet, 4, ((say("quantity"), 46), (say("name"), 30), (say("sheet"), 20), (say("source"), 110), (say("note"), 60)))
    declaration = views.base.declaration
    used = dict.fromkeys(key.row for key in views.base.cells)
    row = 5
    for name, quantity in declaration.rows.items():
        if name in used and (quantity.source or quantity.note):
            chapter = chapter_sheet(declaration.chapters[quantity.chapter])
            for column, value in enumerate((quantity.label, name, chapter, quantity.source, quantity.note), 1):
                cell = sheet.cell(row, column)
                text(cell, value)
                cell.font = style.BODY if column == 1 else style.NOTE
            row += 1
    sheet.freeze_panes = "A5"


#: The lines of the About sheet: keys of their titles and texts.
ABOUT = (
    "made_by", "question", "not_answered", "live", "structural", "schedule", "roles", "units", "allocated", "reserved", "device", "colours",
)  # fmt: skip


def about_sheet(writer: Writer, views: Views) -> None:
    scenario, model, say, word = views.scenario, views.base, views.wording.text, views.wording.language.word
    sheet = writer.sheet("About", say("about_this"))
    roles = (say("about_role", role=word(role.name), process=word(role.process), pool=word(role.pool)) for role in model.layout.roles)
    filled: dict[str, dict[str, str]] = {
        "made_by": {"version": __version__, "scenario": scenario.name},
        "schedule": {"schedule": views.wording.language.schedule(scenario.schedule.title), "source": scenario.schedule.source},
        "roles": {"roles": say("semicolon").join(roles)},
    }
    failed = (model.cells[key].quantity for key in model.checks() if scenario.values[key])
    lines = [
        *((say(f"title_{key}"), say(f"about_{key}", **filled.get(key, {}))) for key in ABOUT),
        *((say("title_assumption"), text) for text in scenario.assumptions),
        *((say("title_less_sure"), label) for label in dict.fromkeys(row.label for row in failed if row.severity == "caution")),
    ]
    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 18, 120
    for row, (title, body) in enumerate(lines, 3):
        put(sheet, f"A{row}", title, style.STRONG)
        put(sheet, f"B{row}", body)
        sheet[f"B{row}"].alignment = style.WRAP
