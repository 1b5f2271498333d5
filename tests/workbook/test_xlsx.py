"""The writer of the workbook: what is stored, that nothing is lost, and that the bytes never change."""

import datetime
import hashlib
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.chart import BarChart, LineChart, Reference, ScatterChart, Series
from openpyxl.chart.label import DataLabelList
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule, DataBarRule, FormulaRule
from openpyxl.packaging.custom import StringProperty
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Protection, Side
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.table import Table

import memsheet
from memsheet import files
from memsheet.workbook import xlsx

HOSTILE = (
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "'quoted",
    "=",
    "#N/A",
    "TRUE",
    "_x0041_",
    "<&>\"'",
    " a\tb ",
)


def small() -> tuple[openpyxl.Workbook, dict[str, dict[str, xlsx.Value]]]:
    """A formula of every type of value."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Fit"
    sheet["A1"], sheet["B1"] = "Weights", 3
    sheet["A2"], sheet["B2"] = "Peak", "=B1*0.1"
    sheet["A3"], sheet["B3"] = "Binding instant", '=IF(B1>2,"actor & critic","rollout")'
    sheet["A4"], sheet["B4"] = "Fits", "=B2<B1"
    return workbook, {"Fit": {"B2": 0.1 * 3, "B3": "actor & critic", "B4": True}}


def everything() -> tuple[openpyxl.Workbook, dict[str, dict[str, xlsx.Value]]]:
    """A workbook with all that memsheet may ever put into one."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Timeline"
    sheet.append(["Instant", "Actor", "Total"])
    for row in range(2, 8):
        sheet.append([f"instant {row}", row / 3, f"=B{row}*2"])
    _styles(workbook, sheet)
    _rules(sheet)
    _layout(workbook, sheet)
    _extras(workbook, workbook.create_sheet("What if"))
    _charts(workbook, sheet)
    return workbook, {"Timeline": {f"C{row}": row / 3 * 2 for row in range(2, 8)}}


def _styles(workbook, sheet):
    font = {"b": True, "i": True, "strike": True, "u": "single", "vertAlign": "superscript", "outline": True}
    sheet["A1"].font = Font(name="Arial", sz=14, color="FF0000", charset=1, family=2, scheme="minor", **font)
    sheet["A2"].fill = PatternFill("solid", fgColor="DDEBF7")
    sheet["A3"].border = Border(left=Side("thin", "000000"), bottom=Side("double"))
    sheet["A4"].alignment = Alignment(wrap_text=True, horizontal="left", indent=1)
    sheet["A5"].protection = Protection(locked=False)
    workbook.add_named_style(NamedStyle("input", font=Font(color="0000FF"), number_format='0.00" GiB"'))
    sheet["B2"].style = "input"


def _rules(sheet):
    choice = DataValidation("list", formula1='"full,none"', showErrorMessage=True, showInputMessage=True)
    choice.promptTitle, choice.prompt, choice.errorTitle, choice.error = "Recompute", "Choose", "No", "Choose a word"
    sheet.add_data_validation(choice)
    choice.add("E1")
    choice.add("E3:E5")
    bounds = DataValidation("decimal", operator="between", formula1="0", formula2="1")
    sheet.add_data_validation(bounds)
    bounds.add("F1")
    red = {"font": Font(b=True, color="9C0006"), "fill": PatternFill(bgColor="FFC7CE")}
    sheet.conditional_formatting.add("B2:B7", CellIsRule(operator="greaterThan", formula=["3"], **red))
    sheet.conditional_formatting.add("A2:A7", FormulaRule(formula=["$B2>2"], stopIfTrue=True, **red))
    scale = ColorScaleRule(start_type="min", start_color="FFFFFF", end_type="max", end_color="FF0000")
    sheet.conditional_formatting.add("C2:C7", scale)
    sheet.conditional_formatting.add("B2:B7", DataBarRule("num", 0, "max", color="638EC6"))


def _layout(workbook, sheet):
    for merged in ("J1:L2", "J4:L4", "J6:K6", "J8:K8", "J10:K10"):
        sheet.merge_cells(merged)
    sheet["J1"] = "Merged"
    sheet.freeze_panes = "C2"
    sheet.column_dimensions["A"].width = 30
    sheet.column_dimensions.group("N", "P", hidden=True)
    sheet.row_dimensions[1].height = 24
    sheet.print_title_rows, sheet.print_area = "1:1", "A1:H20"
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.oddFooter.center.text = "Page &P of &N"
    sheet.protection.sheet = True
    workbook.defined_names["peak"] = DefinedName("peak", attr_text="Timeline!$C$7")
    workbook.properties.title = "Everything"
    workbook.custom_doc_props.append(StringProperty(name="scenario", value="seed-1"))


def _extras(workbook, sheet):
    sheet["A1"] = "Head"
    sheet["A2"] = 0.1 + 0.2
    sheet["A3"], sheet["A4"], sheet["A5"] = datetime.date(2024, 1, 2), True, "#N/A"
    sheet["A6"] = CellRichText("M", TextBlock(InlineFont(vertAlign="subscript", i=True, rFont="Arial"), "w"), " bytes")
    sheet["A1"].comment = Comment("ZeRO, section 5\n<&>", "memsheet")
    sheet["A2"].comment = Comment("second", "memsheet", height=100, width=200)
    sheet["B1"].hyperlink = "https://example.com/?a=1&b=2"
    sheet["B2"] = "Back"
    sheet["B2"].hyperlink = Hyperlink(ref="B2", location="Timeline!A1", tooltip="back")
    for row, value in enumerate(HOSTILE, 10):
        xlsx.text(sheet.cell(row, 1), value)
    sheet.add_table(Table(displayName="Heads", ref="A1:A2"))


def _charts(workbook, sheet):
    for kind, anchor in ((BarChart, "R1"), (LineChart, "R20")):
        chart = kind()
        chart.title, chart.x_axis.title, chart.y_axis.title = "Memory", "Instant", "GiB"
        chart.add_data(Reference(sheet, min_col=2, max_col=3, min_row=1, max_row=7), titles_from_data=True)
        chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=7))
        chart.dataLabels = DataLabelList(showVal=True)
        sheet.add_chart(chart, anchor)
    scatter = ScatterChart()
    column_b, column_c = (Reference(sheet, min_col=column, min_row=2, max_row=7) for column in (2, 3))
    scatter.series.append(Series(column_c, column_b, title="Predicted"))
    sheet.add_chart(scatter, "R40")
    alone = BarChart()
    alone.add_data(Reference(sheet, min_col=3, min_row=1, max_row=7))
    workbook.create_chartsheet("Chart").add_chart(alone)


def parts(data: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def reopened(data: bytes, **options) -> openpyxl.Workbook:
    return openpyxl.load_workbook(BytesIO(data), **options)


def one_cell(content, value=None) -> bytes:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = content
    return xlsx.contents(workbook, {"Sheet": {"A1": value}})


# ---- values --------------------------------------------------------------------------------------------------------


def test_values_are_stored_beside_the_formulas(tmp_path):
    workbook, values = small()
    xlsx.save(workbook, tmp_path / "small.xlsx", values)
    stored = openpyxl.load_workbook(tmp_path / "small.xlsx", data_only=True)["Fit"]
    assert [stored[f"B{row}"].value for row in range(1, 5)] == [3, 0.1 * 3, "actor & critic", True]
    assert openpyxl.load_workbook(tmp_path / "small.xlsx")["Fit"]["B4"].value == "=B2<B1"


def test_the_sheet_as_excel_would_write_it():
    workbook, values = small()
    sheet = parts(xlsx.contents(workbook, values))["xl/worksheets/sheet1.xml"].decode()
    assert '<c r="A1" t="s"><v>0</v></c><c r="B1"><v>3</v></c>' in sheet
    assert '<c r="B2"><f>B1*0.1</f><v>0.30000000000000004</v></c>' in sheet
    assert '<c r="B3" t="str"><f>IF(B1&gt;2,"actor &amp; critic","rollout")</f><v>actor &amp; critic</v></c>' in sheet
    assert '<c r="B4" t="b"><f>B2&lt;B1</f><v>1</v></c>' in sheet


def test_texts_are_shared_and_counted():
    workbook, values = small()
    workbook["Fit"]["C1"] = "Weights"
    strings = parts(xlsx.contents(workbook, values))["xl/sharedStrings.xml"].decode()
    assert 'count="5" uniqueCount="4"' in strings
    assert strings.count("<t>Weights</t>") == 1


def test_excel_is_asked_to_recalculate():
    workbook, values = small()
    workbook.calculation.fullCalcOnLoad = False
    assert b'fullCalcOnLoad="1"' in parts(xlsx.contents(workbook, values))["xl/workbook.xml"]
    assert not workbook.calculation.fullCalcOnLoad


@pytest.mark.parametrize("value", [80 * 2**30, 2**53 - 1, 0.1, 1e300, 5e-324, -1 / 3, 1e15, 123456789012345.6, 10**20])
def test_numbers_are_exact(value):
    assert reopened(one_cell("=1", value), data_only=True).active["A1"].value == value


def test_a_formula_without_a_value_is_refused_and_leaves_no_file(tmp_path):
    workbook, values = small()
    del values["Fit"]["B3"]
    (tmp_path / "old.xlsx").write_bytes(b"old")
    with pytest.raises(ValueError, match=r"Fit!B3.*no calculated value"):
        xlsx.save(workbook, tmp_path / "old.xlsx", values)
    assert [path.name for path in tmp_path.iterdir()] == ["old.xlsx"]
    assert (tmp_path / "old.xlsx").read_bytes() == b"old"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, None, 1j, "x" * 32_768, "\x00"])
def test_a_value_that_excel_cannot_hold_is_refused(value):
    with pytest.raises(ValueError, match="Sheet!A1"):
        one_cell("=1", value)


@pytest.mark.parametrize("content", [math.nan, math.inf, datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)])
def test_a_constant_that_excel_cannot_hold_is_refused(content):
    with pytest.raises(ValueError, match="Sheet!A1"):
        one_cell(content)


def test_array_formulas_are_refused():
    with pytest.raises(ValueError, match=r"Sheet!A1.*array"):
        one_cell(ArrayFormula("A1:A2", "=B1:B2"))


# ---- what a user wrote ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_text_stays_text(value):
    workbook = openpyxl.Workbook()
    xlsx.text(workbook.active["A1"], value)
    workbook.active["A1"].style = "Good"  # a style set later must not undo the quoting
    cell = reopened(xlsx.contents(workbook, {})).active["A1"]
    assert (cell.value, cell.data_type, cell.style) == (value, "s", "Good")
    assert cell.quotePrefix == value.startswith(("=", "+", "-", "@", "'"))


def test_what_looks_like_an_escape_is_escaped():
    workbook = openpyxl.Workbook()
    xlsx.text(workbook.active["A1"], "_x0041_ _x00_")
    assert b"<t>_x005F_x0041_ _x00_</t>" in parts(xlsx.contents(workbook, {}))["xl/sharedStrings.xml"]


def test_line_breaks_are_kept_and_control_characters_dropped():
    workbook = openpyxl.Workbook()
    xlsx.text(workbook.active["A1"], "one\r\ntwo\rthree\nfour\x00\x0b\x1b\ufffe\ud800.")
    assert reopened(xlsx.contents(workbook, {})).active["A1"].value == "one\ntwo\nthree\nfour."


@settings(deadline=None, max_examples=50)
@given(st.text(st.characters(), max_size=20))
def test_any_text_comes_back(value):
    workbook = openpyxl.Workbook()
    xlsx.text(workbook.active["A1"], value)
    expected = workbook.active["A1"].value
    stored = reopened(xlsx.contents(workbook, {})).active["A1"]
    assert (stored.value or "") == expected
    assert stored.data_type in "sn"


@pytest.mark.parametrize("value", ["x" * 40_000, "x" * 32_768, "😀" * 16_384])
def test_too_long_a_text_is_refused(value):
    workbook = openpyxl.Workbook()
    with pytest.raises(ValueError, match=r"Sheet!A1.*32,767"):
        xlsx.text(workbook.active["A1"], value)


@pytest.mark.parametrize("value", ["x" * 32_767, "😀" * 16_383])
def test_the_longest_text_is_kept(value):
    workbook = openpyxl.Workbook()
    xlsx.text(workbook.active["A1"], value)
    assert reopened(xlsx.contents(workbook, {})).active["A1"].value == value


def test_a_character_that_xml_cannot_hold_is_refused_where_it_was_not_dropped():
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "\ufffe"
    with pytest.raises(ValueError, match="Sheet!A1"):
        xlsx.contents(workbook, {})
    workbook.active["A1"] = "fine"
    workbook.active["A1"].comment = Comment("\x00", "memsheet")
    with pytest.raises(ValueError, match="Sheet!A1"):
        xlsx.contents(workbook, {})


# ---- what Excel would not open -------------------------------------------------------------------------------------


def _validation(workbook, **options):
    validation = DataValidation("list", **options)
    workbook.active.add_data_validation(validation)
    validation.add("B2")


@pytest.mark.parametrize(
    "break_it",
    [
        lambda workbook: workbook.active.cell(1, 1, "=1" + "+1" * 4_096),
        lambda workbook: _validation(workbook, formula1=f'"{"x" * 256}"'),
        lambda workbook: _validation(workbook, formula1="$A$1:$A$2", prompt="x" * 256),
        lambda workbook: workbook.defined_names.add(DefinedName("H100", attr_text="Sheet!$A$1")),
        lambda workbook: workbook.defined_names.add(DefinedName("two words", attr_text="Sheet!$A$1")),
        lambda workbook: setattr(workbook, "vba_archive", True),
    ],
    ids=["formula", "choices", "prompt", "cell", "words", "macros"],
)
def test_what_excel_would_not_open_is_refused(break_it):
    workbook = openpyxl.Workbook()
    break_it(workbook)
    with pytest.raises(ValueError):
        xlsx.contents(workbook, {"Sheet": {"A1": 1}})


@pytest.mark.filterwarnings("ignore:Title is more than 31 characters")
def test_too_long_a_sheet_title_is_refused():
    workbook = openpyxl.Workbook()
    workbook.active.title = "x" * 32
    with pytest.raises(ValueError, match="31"):
        xlsx.contents(workbook, {})


# ---- nothing is lost -----------------------------------------------------------------------------------------------


def test_everything_survives():
    workbook, values = everything()
    data = xlsx.contents(workbook, values)
    copy = reopened(data, rich_text=True)
    sheet, extras = copy["Timeline"], copy["What if"]
    assert [str(validation.sqref) for validation in sheet.data_validations.dataValidation] == ["E1 E3:E5", "F1"]
    assert sheet.data_validations.dataValidation[0].formula1 == '"full,none"'
    assert len(sheet._charts) == 3 and len(copy["Chart"]._charts) == 1
    assert {str(formatted.sqref) for formatted in sheet.conditional_formatting} == {"B2:B7", "A2:A7", "C2:C7"}
    assert len(sheet.merged_cells.ranges) == 5
    assert (sheet.freeze_panes, sheet.column_dimensions["A"].width, sheet.row_dimensions[1].height) == ("C2", 30, 24)
    assert sheet.sheet_format.outlineLevelCol == 1
    assert (sheet.print_title_rows, sheet.print_area) == ("$1:$1", "'Timeline'!$A$1:$H$20")
    assert (sheet.page_setup.orientation, sheet.oddFooter.center.text) == ("landscape", "Page &P of &N")
    assert copy.defined_names["peak"].attr_text == "Timeline!$C$7"
    assert (sheet["B2"].style, sheet["B2"].number_format) == ("input", '0.00" GiB"')
    assert (sheet["A1"].font.vertAlign, sheet["A4"].alignment.indent) == ("superscript", 1)
    assert extras["A1"].comment.text == "ZeRO, section 5\n<&>"
    assert b"width:200px;height:100px" in parts(data)["xl/drawings/commentsDrawing1.vml"]
    assert extras["B1"].hyperlink.target == "https://example.com/?a=1&b=2"
    assert extras["B2"].hyperlink.location == "Timeline!A1"
    assert extras["A3"].value == datetime.datetime(2024, 1, 2) and extras["A4"].value is True
    assert extras["A5"].data_type == "e" and extras["A2"].value == 0.1 + 0.2
    assert str(extras["A6"].value) == "Mw bytes" and extras["A6"].value[1].font.vertAlign == "subscript"
    assert list(extras.tables) == ["Heads"]
    assert copy.properties.title == "Everything" and copy.custom_doc_props["scenario"].value == "seed-1"


def test_charts_say_what_excel_would_otherwise_take_for_true():
    workbook, values = everything()
    found = parts(xlsx.contents(workbook, values))
    bar, line, scatter = (found[f"xl/charts/chart{number}.xml"].decode() for number in (1, 2, 3))
    for chart in (bar, line, scatter):
        assert chart.count('<c:delete val="0"/><c:axPos') == 2
        assert '<c:varyColors val="0"/><c:ser>' in chart
    assert '<c:overlay val="0"/></c:title>' in bar
    assert '<c:showVal val="1"/><c:showCatName val="0"/>' in bar
    assert line.count('<c:smooth val="0"/></c:ser>') == 2
    assert '<c:scatterStyle val="lineMarker"/>' in scatter


def test_a_chart_keeps_what_was_asked_of_it():
    workbook = openpyxl.Workbook()
    chart = LineChart()
    chart.add_data(Reference(workbook.active, min_col=1, min_row=1, max_row=3))
    chart.series[0].smooth = True
    chart.x_axis.delete = True
    chart.dataLabels = DataLabelList(delete=True)
    workbook.active.add_chart(chart, "C1")
    xml = parts(xlsx.contents(workbook, {}))["xl/charts/chart1.xml"].decode()
    assert '<c:smooth val="1"/>' in xml and '<c:delete val="1"/><c:axPos' in xml
    assert '<c:dLbls><c:delete val="1"/></c:dLbls>' in xml


def test_openxml_audit_finds_nothing(tmp_path):
    openxml_audit = pytest.importorskip("openxml_audit")
    workbook, values = everything()
    xlsx.save(workbook, tmp_path / "everything.xlsx", values)
    result = openxml_audit.OpenXmlValidator().validate(tmp_path / "everything.xlsx")
    assert [f"{error.part_uri} {error.description}" for error in result.errors] == []


# ---- the same bytes ------------------------------------------------------------------------------------------------


def test_the_same_workbook_gives_the_same_bytes():
    workbook, values = everything()
    once = xlsx.contents(workbook, values)
    assert xlsx.contents(workbook, values) == once
    assert xlsx.contents(*everything()) == once


def test_nothing_in_the_file_tells_the_time():
    workbook, values = small()
    data = xlsx.contents(workbook, values)
    with ZipFile(BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2000, 1, 1, 0, 0, 0)}
        assert archive.namelist()[0] == "[Content_Types].xml"
    assert reopened(data).properties.created == reopened(data).properties.modified == datetime.datetime(2000, 1, 1)
    assert workbook.properties.created.year > 2000  # the caller's own is left alone


@pytest.mark.parametrize("environment", [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "OPENPYXL_LXML": "False"}])
def test_every_process_gives_the_same_bytes(environment):
    """Whatever the seed of its hashes, and whether or not openpyxl uses lxml."""
    root = str(Path(memsheet.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root, **environment}
    other = subprocess.run([sys.executable, __file__], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == fingerprint()


def fingerprint() -> str:
    return hashlib.sha256(xlsx.contents(*everything())).hexdigest()


def test_threads_do_not_disturb_each_other(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: xlsx.save(*_in(tmp_path / "same.xlsx")), range(24)))
    assert (tmp_path / "same.xlsx").read_bytes() == xlsx.contents(*everything())
    assert len(list(tmp_path.iterdir())) == 1


def _in(path):
    workbook, values = everything()
    return workbook, path, values


def test_a_style_changed_after_saving_does_not_reach_into_other_cells():
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["A1"], sheet["A2"] = 1, 2
    sheet["A1"].font, sheet["A2"].font = Font(b=True), Font(b=True)
    xlsx.contents(workbook, {})
    sheet["A1"].font = Font(i=True)
    again = reopened(xlsx.contents(workbook, {})).active
    assert again["A1"].font.i and not again["A1"].font.b and again["A2"].font.b


# ---- the file ------------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    (tmp_path / "report.xlsx").write_bytes(b"old")

    def refused(*_):
        raise PermissionError("open in Excel")

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError):
        files.replace(tmp_path / "report.xlsx", b"new")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]


def test_the_file_has_the_usual_permissions(tmp_path):
    workbook, values = small()
    xlsx.save(workbook, tmp_path / "small.xlsx", values)
    (tmp_path / "usual").touch()
    assert (tmp_path / "small.xlsx").stat().st_mode == (tmp_path / "usual").stat().st_mode


if __name__ == "__main__":  # see test_every_process_gives_the_same_bytes
    print(fingerprint())
