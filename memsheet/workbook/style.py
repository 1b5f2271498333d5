"""How a workbook looks: the FAST standard's colours (inputs apart from calculations), fonts, number formats."""

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

from ..quantity import Quantity
from ..units import share, words

INK, QUIET, ACCENT = "1F2937", "6B7280", "1D4ED8"
TITLE = Font(name="Calibri", size=16, bold=True, color=INK)
SUBTITLE = Font(name="Calibri", size=10, italic=True, color=QUIET)
HEAD = Font(name="Calibri", size=10, bold=True, color="FFFFFF")
SECTION = Font(name="Calibri", size=11, bold=True, color=ACCENT)
BODY = Font(name="Calibri", size=10, color=INK)
STRONG = Font(name="Calibri", size=10, bold=True, color=INK)
NOTE = Font(name="Calibri", size=9, color=QUIET)
INPUT = Font(name="Calibri", size=10, color=ACCENT)

HEAD_FILL = PatternFill("solid", fgColor="374151")
INPUT_FILL = PatternFill("solid", fgColor="FEF9C3")
TOTAL_FILL = PatternFill("solid", fgColor="F3F4F6")
GOOD_FILL, WARNING_FILL, BAD_FILL = (PatternFill("solid", bgColor=colour, fgColor=colour) for colour in ("BBF7D0", "FDE68A", "FECACA"))

THIN = Side(style="thin", color="D1D5DB")
INPUT_BORDER = Border(left=THIN, right=THIN, top=THIN, bottom=THIN)
WRAP = Alignment(wrap_text=True, vertical="top")
CENTRE = Alignment(horizontal="center", vertical="center", wrap_text=True)
RIGHT = Alignment(horizontal="right", vertical="center")
RIGHT_WRAPPED = Alignment(horizontal="right", vertical="center", wrap_text=True)

GIB_FORMAT = '#,##0.00;-#,##0.00;"–"'
SERIES_COLOURS = ("2563EB", "7C3AED", "059669", "D97706", "0891B2", "DB2777", "65A30D", "9CA3AF")


def number_format(quantity: Quantity) -> str:
    """How a quantity's cells show their number."""
    if quantity.unit == share:
        return "0.0%"
    if quantity.unit.name == "GiB":
        return GIB_FORMAT
    if quantity.unit == words or quantity.choices:
        return "@" if quantity.is_given else "General"
    return "#,##0" if quantity.unit.power or quantity.whole else "#,##0.###"
