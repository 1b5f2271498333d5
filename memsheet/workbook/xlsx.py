"""The file itself: an openpyxl workbook written so that every formula also stores its value.

openpyxl writes formulas bare: previews, pandas and phones then show nothing until Excel has opened the file once.
Here each formula cell stores the value that our own evaluator found, and the same workbook always gives the same
bytes, so a workbook can be compared, cached and attached. Excel is asked to recalculate when it opens the file.

This is the only module that knows openpyxl's internals (3.1). It subclasses openpyxl's three writers and changes
nothing in openpyxl itself, so several threads or processes may write at once, each its own workbook.

    PackageWriter   which parts the zip holds              openpyxl's ExcelWriter
    BookWriter      workbook.xml and what it refers to     openpyxl's WorkbookWriter
    SheetWriter     one sheet                              openpyxl's WorksheetWriter
"""

import datetime
import math
import re
from collections.abc import Generator, Iterable, Mapping
from copy import copy
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.cell.cell import Cell
from openpyxl.cell.rich_text import CellRichText
from openpyxl.comments.comment_sheet import CommentRecord
from openpyxl.drawing.spreadsheet_drawing import SpreadsheetDrawing
from openpyxl.packaging.extended import ExtendedProperties
from openpyxl.packaging.relationship import Relationship
from openpyxl.styles.cell_style import StyleArray
from openpyxl.styles.stylesheet import write_stylesheet
from openpyxl.utils import get_column_letter
from openpyxl.utils.datetime import to_excel
from openpyxl.workbook._writer import WorkbookWriter
from openpyxl.worksheet._writer import WorksheetWriter
from openpyxl.worksheet.merge import MergeCell, MergeCells
from openpyxl.writer.excel import ExcelWriter
from openpyxl.writer.theme import theme_xml
from openpyxl.xml import constants
from openpyxl.xml.functions import Element, tostring

from .. import files

Value = float | int | str | bool

# Excel cannot open, or opens only after a repair, what goes beyond these.
LONGEST_TEXT = 32_767
LONGEST_FORMULA = 8_192
LONGEST_SHEET_TITLE = 31
LONGEST_INLINE_LIST = 255
LONGEST_MESSAGE = {"promptTitle": 32, "prompt": 255, "errorTitle": 32, "error": 225}
NAME = re.compile(r"[^\W\d][\w.]*")
CELL_REFERENCE = re.compile(r"[a-z]{1,3}[0-9]+|r[0-9]*(c[0-9]*)?|c[0-9]*", re.IGNORECASE)

# Any fixed instant would do; a zip cannot hold one before 1980.
FIXED_TIME = datetime.datetime(2000, 1, 1)

# XML 1.0 has no way to write these, escaped or not. (A carriage return it has; Excel breaks lines with "\n" alone.)
ILLEGAL_CHARACTERS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Excel reads _x0041_ inside a text as "A"; the underscore itself has to be written so.
LOOKS_ESCAPED = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
# A user who edits a text that begins so, and presses Enter, would turn it into a formula, unless it is quoted.
FORMULA_STARTS = ("=", "+", "-", "@", "'")


def save(workbook: Workbook, path: Path, values: Mapping[str, Mapping[str, Value]]) -> None:
    """Write `workbook` so that every formula cell also stores its calculated value.

    `values[sheet title][coordinate]` is the value of that formula. A formula without one, a value that is not finite,
    and whatever Excel could not open are ValueErrors that name the cell. Values of other cells are not looked at.
    `path` appears whole or not at all.
    """
    files.replace(path, contents(workbook, values))


def contents(workbook: Workbook, values: Mapping[str, Mapping[str, Value]]) -> bytes:
    """The bytes that `save` writes, for whoever attaches the workbook to something else."""
    check_limits(workbook)
    package = Package()
    PackageWriter(workbook, package, values).write_data()
    return package.zipped()


def text(cell: Cell, value: str) -> None:
    """Make `cell` show `value` as it is: never a formula, never an error code.

    Characters that no XML file can hold are dropped. More than Excel keeps in a cell is a ValueError,
    where openpyxl would cut the end off in silence.
    """
    value = ILLEGAL_CHARACTERS.sub("", value.replace("\r\n", "\n").replace("\r", "\n"))
    _check_length(value, LONGEST_TEXT, "a text", f"{cell.parent.title}!{cell.coordinate}")
    cell.value = value
    cell.data_type = "s"  # openpyxl has taken "=…" for a formula and "#N/A" for an error


def check_limits(workbook: Workbook) -> None:
    """Refuse what openpyxl would write and Excel would not open. Cells are checked where they are written."""
    if workbook.write_only or workbook.vba_archive:
        raise ValueError("A write-only workbook, or one with macros, cannot be saved. Start from openpyxl.Workbook().")
    for title in workbook.sheetnames:
        _check_length(title, LONGEST_SHEET_TITLE, "the title", f"Sheet {title}")
    for name in (*workbook.defined_names, *(name for sheet in workbook.worksheets for name in sheet.defined_names)):
        if not NAME.fullmatch(name) or CELL_REFERENCE.fullmatch(name):
            raise ValueError(f"Excel takes the defined name {name} for a cell or a formula. Use words_like_these.")
    for sheet in workbook.worksheets:
        for validation in sheet.data_validations.dataValidation:
            where = f"{sheet.title}!{validation.sqref}"
            for name, longest in LONGEST_MESSAGE.items():
                _check_length(getattr(validation, name) or "", longest, f"{name} of the data validation", where)
            if validation.type == "list" and (validation.formula1 or "").startswith('"'):
                choices = validation.formula1.strip('"')
                _check_length(choices, LONGEST_INLINE_LIST, "the list of choices (refer to cells instead)", where)


def _check_length(value: str, longest: int, what: str, where: str) -> None:
    """Excel counts UTF-16 units, so an emoji counts as two."""
    length = len(value) + sum(character > "\uffff" for character in value) if len(value) > longest // 2 else 0
    if length > longest:
        raise ValueError(f"{where}: {what} has {length:,} characters, and Excel holds {longest:,}. Shorten it.")


# ---- the zip -------------------------------------------------------------------------------------------------------


class Package:
    """The parts of the file in memory. Has as much of ZipFile as openpyxl's writers use."""

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}

    def writestr(self, name: str, data: bytes | str) -> None:
        """Called by openpyxl. Whatever is XML is parsed and written anew, which also proves it well formed."""
        if name.endswith((".xml", ".rels", ".vml")):
            try:
                data = document(data)
            except ElementTree.ParseError as error:
                raise ValueError(f"{name} in the workbook holds a character that XML cannot: {error}") from error
        self.add(name, data)

    def add(self, name: str, data: bytes | str) -> None:
        """Add a part as it is."""
        self.parts[name] = data.encode() if isinstance(data, str) else data

    def namelist(self) -> Iterable[str]:
        return self.parts.keys()

    def zipped(self) -> bytes:
        """The zip, with nothing in it that depends on the clock, the machine or the user."""
        first = (constants.ARC_CONTENT_TYPES, constants.ARC_ROOT_RELS)  # as Excel does; `file` looks for it
        buffer = BytesIO()
        with ZipFile(buffer, "w") as archive:
            for name in (*first, *(name for name in self.parts if name not in first)):
                info = ZipInfo(name, FIXED_TIME.timetuple()[:6])
                info.compress_type = ZIP_DEFLATED
                info.create_system = 3  # Unix, also when written on Windows
                info.external_attr = 0o644 << 16
                archive.writestr(info, self.parts[name])
        return buffer.getvalue()


class Part(NamedTuple):
    """What openpyxl's manifest wants to know of a part."""

    path: str
    mime_type: str


class PackageWriter(ExcelWriter):
    """openpyxl's list of parts, with shared strings and fixed times."""

    def __init__(self, workbook: Workbook, package: Package, values: Mapping[str, Mapping[str, Value]]) -> None:
        super().__init__(workbook, package)
        self.package = package
        self.values = values
        self.strings = SharedStrings()

    def write_data(self) -> None:
        """Write every part. Styles and strings come after the sheets that use them, the manifest last."""
        self._write_worksheets()
        self._write_chartsheets()
        self._write_images()
        self._write_charts()
        self._write_external_links()
        self._write_workbook()
        self._write_look()
        self._write_properties()
        self.manifest._write(self.package, self.workbook)

    def write_worksheet(self, ws: Any) -> None:
        """As in openpyxl, but through our writer and without a temporary file."""
        ws._drawing = SpreadsheetDrawing()
        ws._drawing.charts = ws._charts
        ws._drawing.images = ws._images
        writer = SheetWriter(ws, self.values.get(ws.title, {}), self.strings)
        writer.write()
        ws._rels = writer._rels
        self.package.add(ws.path[1:], writer.xml())
        self.manifest.append(ws)

    def _write_workbook(self) -> None:
        writer = BookWriter(self.workbook)
        self.package.writestr(constants.ARC_ROOT_RELS, writer.write_root_rels())
        self.package.writestr(constants.ARC_WORKBOOK, writer.write())
        self.package.writestr(constants.ARC_WORKBOOK_RELS, writer.write_rels())
        self.package.add(constants.ARC_SHARED_STRINGS, self.strings.xml())
        self.manifest.append(Part("/" + constants.ARC_SHARED_STRINGS, constants.SHARED_STRINGS))

    def _write_look(self) -> None:
        self.package.writestr(constants.ARC_STYLE, tostring(write_stylesheet(self.workbook)))
        self.package.add(constants.ARC_THEME, self.workbook.loaded_theme or theme_xml)

    def _write_properties(self) -> None:
        properties = self.workbook.properties.to_tree()
        for name in ("created", "modified"):
            properties.find(f"{{{constants.DCTERMS_NS}}}{name}").text = FIXED_TIME.isoformat() + "Z"
        self.package.writestr(constants.ARC_CORE, tostring(properties))
        self.package.writestr(constants.ARC_APP, tostring(ExtendedProperties().to_tree()))
        if len(self.workbook.custom_doc_props):
            self.package.writestr(constants.ARC_CUSTOM, tostring(self.workbook.custom_doc_props.to_tree()))
            self.manifest.append(Part("/" + constants.ARC_CUSTOM, constants.CPROPS_TYPE))


class BookWriter(WorkbookWriter):
    """workbook.xml: asks Excel to recalculate on load, and knows of the shared strings."""

    def __init__(self, workbook: Workbook) -> None:
        super().__init__(workbook)
        calculation = copy(workbook.calculation)
        calculation.fullCalcOnLoad = True
        self.package.calcPr = calculation

    def write_rels(self) -> Any:
        self.rels.append(Relationship(type="sharedStrings", Target="sharedStrings.xml"))
        return super().write_rels()


# ---- a sheet -------------------------------------------------------------------------------------------------------


class SharedStrings:
    """Every text of the workbook once. Cells refer to it by number, as in the files that Excel writes."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}  # by what stands between <si> and </si>
        self.uses = 0

    def number(self, value: str | CellRichText) -> int:
        self.uses += 1
        content = _plain(value) if isinstance(value, str) else _rich(value)
        return self.numbers.setdefault(content, len(self.numbers))

    def xml(self) -> str:
        items = "".join([f"<si>{content}</si>" for content in self.numbers])
        counts = f'count="{self.uses}" uniqueCount="{len(self.numbers)}"'
        return f'{DECLARATION}<sst xmlns="{constants.SHEET_MAIN_NS}" {counts}>{items}</sst>'


def _plain(value: str) -> str:
    space = ' xml:space="preserve"' if value != value.strip() or "\n" in value else ""
    return f"<t{space}>{_content(LOOKS_ESCAPED.sub('_x005F_', value))}</t>"


def _rich(value: CellRichText) -> str:
    return "".join(markup(run, PREFIXES) for run in mended(tostring(value.to_tree())))


NO_STYLE = StyleArray()


class SheetWriter(WorksheetWriter):
    """One sheet. openpyxl writes everything around the rows; the rows, nearly all of the file, are plain strings."""

    def __init__(self, ws: Any, values: Mapping[str, Value], strings: SharedStrings) -> None:
        self.values = values
        self.strings = strings
        self.frame: list[bytes] = []  # all but the rows
        self.sheet_rows: list[str] = []
        self.style_attributes: dict[tuple[bytes, bool], str] = {}
        super().__init__(ws, out=BytesIO())  # not used, but without one openpyxl makes a temporary file

    def get_stream(self) -> Generator[None, Any, None]:
        """Called by openpyxl: where it sends the elements of the sheet, in order, and None for one that is empty."""
        while True:
            element = yield
            if element is not None:
                self.frame.append(tostring(element))

    def xml(self) -> str:
        root = b'<worksheet xmlns="%s">%s</worksheet>' % (constants.SHEET_MAIN_NS.encode(), b"".join(self.frame))
        before, after = document(root).split("<sheetData/>", 1)
        return "".join((before, "<sheetData>", *self.sheet_rows, "</sheetData>", after))

    def write_format(self) -> None:
        """openpyxl finds the deepest group of columns only while it writes them, which is after this."""
        self.ws.column_dimensions.to_tree()
        super().write_format()

    def write_rows(self) -> None:
        self.xf.send(Element("sheetData"))  # keeps the place
        for number, cells in self.rows():
            attributes = _attributes(dict(self.ws.row_dimensions.get(number, {})))
            content = "".join([self.cell(cell) for cell in cells])
            if content or attributes:
                self.sheet_rows.append(f'<row r="{number}"{attributes}>{content}</row>')

    def write_merged_cells(self) -> None:
        """openpyxl keeps merged ranges in a set; sorted, they come out in the same order every time."""
        if self.ws.merged_cells:
            ranges = [MergeCell(str(merged)) for merged in self.ws.merged_cells.sorted()]
            self.xf.send(MergeCells(mergeCell=ranges).to_tree())

    def cell(self, cell: Any) -> str:
        """The <c> element of a cell; nothing for a cell without content or style."""
        kind, value = cell.data_type, cell._value
        if cell.hyperlink:
            self.ws._hyperlinks.append(cell.hyperlink)
        if cell._comment is not None:
            self.check_characters(cell, cell._comment.content)
            self.ws._comments.append(CommentRecord.from_cell(cell))
        coordinate = f"{get_column_letter(cell.column)}{cell.row}"
        style = self.style(cell._style, quoted=kind == "s" and str.startswith(str(value), FORMULA_STARTS))
        if value is None or value == "":
            return f'<c r="{coordinate}"{style}/>' if style or cell._comment is not None else ""
        match kind:
            case "n":
                kind, content = "", f"<v>{self.number(cell, value)}</v>"
            case "s":
                self.check_characters(cell, str(value))
                content = f"<v>{self.strings.number(value)}</v>"
            case "f":
                kind, content = self.formula(cell, value)
            case "b":
                content = f"<v>{value:d}</v>"
            case "d":
                kind, content = "", f"<v>{self.date(cell, value)}</v>"
            case _:
                content = f"<v>{_content(str(value))}</v>"
        kind = f' t="{kind}"' if kind else ""
        return f'<c r="{coordinate}"{style}{kind}>{content}</c>'

    def style(self, style: StyleArray | None, quoted: bool) -> str:
        """The attribute that names a cell's style. `quoted` is the apostrophe that keeps a text a text when edited."""
        if style is None:
            style = NO_STYLE
        key = (style.tobytes(), quoted)
        attribute = self.style_attributes.get(key)
        if attribute is None:
            style = StyleArray(style)  # openpyxl keeps what it is given, and the cell's own may change later
            style.quotePrefix |= quoted
            attribute = f' s="{self.ws.parent._cell_styles.add(style)}"' if any(style) else ""
            self.style_attributes[key] = attribute
        return attribute

    def formula(self, cell: Any, formula: Any) -> tuple[str, str]:
        """A formula and its stored value: the type of the value, and the content of the cell."""
        if not isinstance(formula, str):
            raise ValueError(f"{self.where(cell)}: array formulas and data tables are not supported. Use plain cells.")
        formula = formula[1:]
        _check_length(formula, LONGEST_FORMULA, "the formula", self.where(cell))
        self.check_characters(cell, formula)
        value = self.values.get(cell.coordinate)
        if isinstance(value, str):
            _check_length(value, LONGEST_TEXT, "the value of the formula", self.where(cell))
            self.check_characters(cell, value)
            kind, stored = "str", _content(value)
        elif isinstance(value, bool):
            kind, stored = "b", f"{value:d}"
        elif value is None:
            raise ValueError(f"{self.where(cell)}: the formula has no calculated value. Add it to `values`.")
        else:
            kind, stored = "", self.number(cell, value)
        return kind, f"<f>{_content(formula)}</f><v>{stored}</v>"

    def number(self, cell: Any, value: Any) -> str:
        """As short as it can be and still exact; openpyxl keeps 16 digits of 17, and writes NaN as nothing."""
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"{self.where(cell)}: {value!r} is not a number that Excel can hold ({error})") from error
        if not math.isfinite(number):
            raise ValueError(f"{self.where(cell)}: the value is {number}, which Excel cannot hold")
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)

    def date(self, cell: Any, value: Any) -> str:
        """Excel's dates are numbers of days."""
        if getattr(value, "tzinfo", None) is not None:
            raise ValueError(f"{self.where(cell)}: {value} has a time zone, and Excel knows none. Remove it.")
        return self.number(cell, to_excel(value, self.ws.parent.epoch))

    def check_characters(self, cell: Any, value: str) -> None:
        if found := ILLEGAL_CHARACTERS.search(value):
            raise ValueError(f"{self.where(cell)}: XML cannot hold the character {found[0]!r}. Use xlsx.text(…).")

    def where(self, cell: Any) -> str:
        return f"{self.ws.title}!{cell.coordinate}"


# ---- XML -----------------------------------------------------------------------------------------------------------
# openpyxl serialises with lxml where that is installed, and with the standard library otherwise: other prefixes, other
# spaces. Every part is therefore parsed and written by the functions below, which on the way mend what openpyxl leaves
# out or puts in an order that the schema does not allow.

DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

# The prefixes that Excel uses. Every other namespace is the default of its part.
PREFIXES = {
    constants.XML_NS: "xml",
    constants.REL_NS: "r",
    constants.CHART_NS: "c",
    constants.DRAWING_NS: "a",
    constants.SHEET_DRAWING_NS: "xdr",
    constants.CHART_DRAWING_NS: "cdr",
    constants.COREPROPS_NS: "cp",
    constants.DCORE_NS: "dc",
    constants.DCTERMS_NS: "dcterms",
    constants.XSI_NS: "xsi",
    constants.VTYPES_NS: "vt",
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
    "urn:schemas-microsoft-com:office:excel": "x",
}

# The children that come first, in the order of the schema; the others follow as they are.
FONT = "b i strike condense extend outline shadow u vertAlign sz color name rFont family charset scheme"
LABELS = "showLegendKey showVal showCatName showSerName showPercent showBubbleSize"
AXIS = "axId scaling delete"
FIRST_CHILDREN = {
    ".//{*}font": FONT,
    ".//{*}rPr": FONT,
    ".//c:chartSpace": "date1904 lang roundedCorners",
    ".//c:title": "tx layout overlay",
    ".//c:legend": "legendPos legendEntry layout overlay",
    ".//c:dLbls": f"dLbl numFmt spPr txPr dLblPos {LABELS} separator",
    ".//c:catAx": AXIS,
    ".//c:dateAx": AXIS,
    ".//c:valAx": AXIS,
    ".//c:barChart": "barDir grouping varyColors",
    ".//c:lineChart": "grouping varyColors",
    ".//c:areaChart": "grouping varyColors",
    ".//c:scatterChart": "scatterStyle varyColors",
}
# What openpyxl leaves out unless it is set. Newer Excels take a switch that is absent from a chart for true: they
# would hide the axes, lay titles over the plot, smooth lines, round the corners and write all they know at a point.
ABSENT_CHILDREN = {
    ".//c:chartSpace": {"roundedCorners": "0"},
    ".//c:title": {"overlay": "0"},
    ".//c:legend": {"overlay": "0"},
    ".//c:dLbls": dict.fromkeys(LABELS.split(), "0"),
    ".//c:catAx": {"delete": "0"},
    ".//c:dateAx": {"delete": "0"},
    ".//c:valAx": {"delete": "0"},
    ".//c:barChart": {"varyColors": "0"},
    ".//c:lineChart": {"varyColors": "0"},
    ".//c:areaChart": {"varyColors": "0"},
    ".//c:scatterChart": {"scatterStyle": "lineMarker", "varyColors": "0"},
    ".//c:lineChart/c:ser": {"smooth": "0"},
    ".//c:scatterChart/c:ser": {"smooth": "0"},
}
CHART = {"c": constants.CHART_NS}


def document(xml: bytes | str) -> str:
    """A part written in our way."""
    root = mended(xml)
    prefixes = _prefixes(root)
    return DECLARATION + markup(root, prefixes, _declarations(prefixes))


def mended(xml: bytes | str) -> ElementTree.Element:
    """The parsed part, with what openpyxl leaves out or out of order put right."""
    root = ElementTree.fromstring(xml)
    outside = ElementTree.Element("outside")  # so that a path finds the root as well
    outside.append(root)
    for path, children in ABSENT_CHILDREN.items():
        for element in outside.iterfind(path, CHART):
            present = {_split(child.tag)[1] for child in element}
            # What is deleted (the labels of a series) may say nothing else.
            for child in children if "delete" not in present else ():
                if child not in present:
                    ElementTree.SubElement(element, f"{{{constants.CHART_NS}}}{child}", val=children[child])
    for path, names in FIRST_CHILDREN.items():
        places = {name: place for place, name in enumerate(names.split())}
        for element in outside.iterfind(path, CHART):
            element[:] = sorted(element, key=lambda child: places.get(_split(child.tag)[1], len(places)))
    return root


def markup(element: ElementTree.Element, prefixes: Mapping[str, str], declarations: str = "") -> str:
    """An element and all that it holds."""
    name = _prefixed(element.tag, prefixes)
    attributes = _attributes({_prefixed(key, prefixes): value for key, value in element.items()})
    children = [markup(child, prefixes) + _content(child.tail or "") for child in element]
    content = _content(element.text or "") + "".join(children)
    start = f"<{name}{declarations}{attributes}"
    return f"{start}>{content}</{name}>" if content else f"{start}/>"


def _prefixes(root: ElementTree.Element) -> dict[str, str]:
    """The prefix of every namespace in a part, in the order of appearance. The first that has none is the default."""
    prefixes: dict[str, str] = {}
    unnamed = (f"ns{number}" if number else "" for number in count())
    for element in root.iter():
        for name in (element.tag, *element.keys()):
            namespace = _split(name)[0]
            if namespace and namespace not in prefixes:
                prefixes[namespace] = PREFIXES.get(namespace) or next(unnamed)
    return prefixes


def _declarations(prefixes: Mapping[str, str]) -> str:
    """The attributes of a root that declare its prefixes; `xml` is declared by XML itself."""
    return _attributes({f"xmlns:{prefix}".rstrip(":"): uri for uri, prefix in prefixes.items() if prefix != "xml"})


def _prefixed(name: str, prefixes: Mapping[str, str]) -> str:
    namespace, local = _split(name)
    return f"{prefixes[namespace]}:{local}".lstrip(":") if namespace else local


def _split(name: str) -> tuple[str, str]:
    """ElementTree's "{namespace}local"."""
    namespace, _, local = name.rpartition("}")
    return namespace[1:], local


def _attributes(attributes: Mapping[str, str]) -> str:
    breaks = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return "".join([f' {name}="{escape(value, breaks)}"' for name, value in attributes.items()])


def _content(value: str) -> str:
    return escape(value, {"\r": "&#13;"})
