"""The charts, as SVG text: stacked bars against the card's line, and the gauge of page one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from ..figures import GIB, gib
from .timeline import Bar

#: Okabe and Ito's palette, told apart by all common kinds of colour blindness; grey comes last.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#9A9A9A")
#: Where the card's line lies this much above the highest bar, it is left to a remark, so that the bars can be read.
FARTHEST_LINE = 2.5

#: In px; the text of a page is 170 mm wide.
WIDTH, LABELS, RIGHT = 642.0, 170.0, 36.0
ROW, THICK, TOP, BOTTOM = 17.0, 11.0, 32.0, 30.0
FONT = 'font-family="DejaVu Sans, WenQuanYi Micro Hei" font-size="9.6"'


@dataclass(frozen=True)
class Lines:
    """What CUDA can allocate on the card and the same less the buyer's reserve, in bytes, with their labels."""

    capacity: float
    usable: float
    capacity_label: str
    usable_label: str


@dataclass(frozen=True)
class Words:
    """The texts of a chart."""

    title: str
    axis: str
    beyond: str


def timeline(bars: Sequence[Bar], series: Sequence[str], lines: Lines, words: Words) -> Markup:
    """Horizontal bars, one an instant, stacked by series in their order; a tick marks what must be there."""
    highest = max(max(bar.total, bar.must) for bar in bars)
    near = lines.capacity <= FARTHEST_LINE * highest
    scale = _Scale(LABELS, WIDTH - RIGHT, 1.04 * max(highest, lines.capacity if near else 1.15 * highest))
    height = TOP + ROW * len(bars) + BOTTOM
    end = TOP + ROW * len(bars)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" height="{height:g}" viewBox="0 0 {WIDTH:g} {height:g}" {FONT}>']
    parts.append(f"<title>{escape(words.title)}</title>")
    for tick in scale.ticks():
        x = scale(tick)
        parts.append(_line(x, TOP - 2, x, end, "#dddddd", 0.7))
        parts.append(_text(x, end + 13, gib(tick, 0 if scale.step >= GIB else 1), "middle"))
    parts.append(_text((LABELS + WIDTH - RIGHT) / 2, end + 27, words.axis, "middle"))
    for number, bar in enumerate(bars):
        y = TOP + ROW * number + (ROW - THICK) / 2
        parts.append(_text(LABELS - 8, y + 9, f"{number + 1}\u2002{bar.label}", "end"))
        done = 0.0
        for name, amount in bar.series.items():
            x, wide = scale(done), scale(done + amount) - scale(done)
            parts.append(f'<rect x="{x:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{THICK:g}" fill="{COLOURS[series.index(name)]}"/>')
            done += amount
        parts.append(_line(scale(bar.must), y - 3, scale(bar.must), y + THICK + 3, "#000000", 1.6))
        parts.append(_text(WIDTH, y + 9, gib(done), "end"))  # a column of its own: no line crosses it
    if near:
        parts.append(_line(scale(lines.capacity), TOP - 8, scale(lines.capacity), end, "#B00020", 1.6))
        parts.append(_line(scale(lines.usable), TOP - 8, scale(lines.usable), end, "#B00020", 1.2, "4 3"))
        parts.append(_text(scale(lines.capacity), TOP - 22, lines.capacity_label, "end", "#B00020"))
        parts.append(_text(scale(lines.usable) - 4, TOP - 11, lines.usable_label, "end", "#B00020"))
    else:
        parts.append(_text(WIDTH - RIGHT, TOP - 22, f"{lines.capacity_label} {words.beyond} \u2192", "end", "#B00020"))
        parts.append(_text(WIDTH - RIGHT, TOP - 11, lines.usable_label, "end", "#B00020"))
    return Markup("".join(parts) + "</svg>")


def gauge(peak: float, lines: Lines, title: str, colour: str, peak_label: str, room_label: str) -> Markup:
    """One bar: the peak within what the card can allocate, the reserve hatched at its end."""
    wide, high, top = WIDTH, 24.0, 16.0
    scale = _Scale(0, wide, max(peak, lines.capacity) * 1.001)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="58" viewBox="0 0 {wide:g} 58" {FONT}>']
    parts.append(f"<title>{escape(title)}</title>")
    parts.append(f'<rect x="0" y="{top}" width="{scale(lines.capacity):.2f}" height="{high}" fill="#ECEFF1"/>')
    x, end = scale(lines.usable), scale(lines.capacity)
    while x < end:
        parts.append(_line(x, top + high, min(x + 6, end), top, "#B0BEC5", 1))
        x += 5
    parts.append(f'<rect x="0" y="{top + 3}" width="{scale(peak):.2f}" height="{high - 6}" fill="{colour}"/>')
    parts.append(_line(scale(lines.capacity) - 0.8, top - 4, scale(lines.capacity) - 0.8, top + high + 4, "#B00020", 1.6))
    parts.append(_line(scale(lines.usable), top - 4, scale(lines.usable), top + high + 4, "#B00020", 1, "4 3"))
    parts.append(_text(0, top - 5, peak_label, "start"))
    parts.append(_text(wide, top - 5, lines.capacity_label, "end", "#B00020"))
    parts.append(_text(wide, top + high + 13, lines.usable_label, "end", "#B00020"))
    parts.append(_text(0, top + high + 13, room_label, "start"))
    return Markup("".join(parts) + "</svg>")


class _Scale:
    """Bytes to a horizontal place."""

    def __init__(self, left: float, right: float, highest: float) -> None:
        self.left, self.wide, self.highest = left, right - left, highest
        self.step = next(step for step in _steps() if highest / step <= 8)

    def __call__(self, value: float) -> float:
        return self.left + self.wide * value / self.highest

    def ticks(self) -> list[float]:
        return [number * self.step for number in range(int(self.highest / self.step) + 1)]


def _steps() -> Iterator[float]:
    """0.1, 0.2, 0.5, 1, 2, 5, … GiB."""
    power = 0.1
    while True:
        for digit in (1, 2, 5):
            yield digit * power * GIB
        power *= 10


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<path d="M{x1:.2f} {y1:.2f}L{x2:.2f} {y2:.2f}" stroke="{colour}" stroke-width="{width:g}"{dashed} fill="none"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#222222") -> str:
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
