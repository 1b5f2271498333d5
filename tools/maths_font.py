"""Makes templates/maths.ttf, in which the plain text `M_w = 2 · P_r` reads as an equation: italic letters, subscripts.

    python tools/maths_font.py        needs fontTools and DejaVu Serif 2.37 with its italic (fonts-dejavu-extra)

The report prints some hundred equations. As HTML each symbol needs a tag or two, and WeasyPrint spends half a
millisecond on each: this font halves the time of a report, and who copies `M_w` from the PDF gets `M_w`.
"""

import string
import sys
from pathlib import Path

from fontTools.feaLib.builder import addOpenTypeFeaturesFromString
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

DEJAVU = Path("/usr/share/fonts/truetype/dejavu")
TARGET = Path(__file__).resolve().parent.parent / "templates" / "maths.ttf"
LETTERS, DIGITS = string.ascii_letters, string.digits
DIGIT_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
OTHERS = " _,.;:=+()[]<>/%\u2212·∑≤≥≠\u2002\u2003\u2009\u202f\u0302"
#: Of a subscript: its size, and how far it hangs below the line, as shares of a letter and of the em.
SMALL, LOW = 0.70, 0.17
#: Words that are upright before a bracket.
FUNCTIONS = ("max", "min")
NOTICE = (
    "Made from DejaVu Serif 2.37. Copyright (c) 2003 by Bitstream, Inc. All Rights Reserved. Bitstream Vera is a trademark "
    "of Bitstream, Inc. DejaVu changes are in public domain."
)


def main() -> None:
    upright, italic = (TTFont(DEJAVU / name) for name in ("DejaVuSerif.ttf", "DejaVuSerif-Italic.ttf"))
    em = upright["head"].unitsPerEm
    names = upright.getBestCmap()
    cmap, glyphs, widths = {}, {".notdef": TTGlyphPen(None).glyph()}, {".notdef": em // 2}

    def add(name: str, font: TTFont, letter: str, scale: float = 1, shift: float = 0) -> None:
        source = font.getBestCmap()[ord(letter)]
        drawing, pen = DecomposingRecordingPen(font.getGlyphSet()), TTGlyphPen(None)
        font.getGlyphSet()[source].draw(drawing)
        drawing.replay(TransformPen(pen, (scale, 0, 0, scale, 0, shift)))
        glyphs[name], widths[name] = pen.glyph(), round(font["hmtx"][source][0] * scale)

    for letter in LETTERS + DIGITS + OTHERS:
        cmap[ord(letter)] = names[ord(letter)]
        add(names[ord(letter)], italic if letter in LETTERS else upright, letter)
    for letter in LETTERS + DIGITS + ",":
        add(f"{names[ord(letter)]}.sub", upright, letter, SMALL, -LOW * em)
    for letter in sorted(set("".join(FUNCTIONS))):
        add(f"{letter}.upright", upright, letter)
    # What says that a subscript follows takes no room.
    glyphs["underscore"], widths["underscore"] = TTGlyphPen(None).glyph(), 0
    save(build(em, cmap, glyphs, widths, upright))


def build(em: int, cmap: dict[int, str], glyphs: dict[str, object], widths: dict[str, int], like: TTFont) -> TTFont:
    """A font of these glyphs, with the rules that turn what follows an underscore into a subscript."""
    builder = FontBuilder(em, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap(cmap)
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics({name: (width, getattr(glyphs[name], "xMin", 0)) for name, width in widths.items()})
    builder.setupHorizontalHeader(ascent=like["hhea"].ascent, descent=like["hhea"].descent)
    builder.setupNameTable(
        {"copyright": NOTICE, "familyName": "memsheet maths", "styleName": "Regular", "uniqueFontIdentifier": "memsheet maths 1",
         "fullName": "memsheet maths", "psName": "memsheet-maths", "version": "Version 1.0", "licenseDescription": "maths.LICENSE.txt"}
    )  # fmt: skip
    metrics = ("sTypoAscender", "sTypoDescender", "sTypoLineGap", "usWinAscent", "usWinDescent")
    builder.setupOS2(fsType=0, **{name: getattr(like["OS/2"], name) for name in metrics})
    builder.setupPost()
    addOpenTypeFeaturesFromString(builder.font, rules())
    return builder.font


def rules() -> str:
    """The comma of `max(b_1, b_2)` ends a subscript; that of `M_a,b` belongs to it."""
    bases = " ".join((*LETTERS, *DIGIT_NAMES, "comma"))
    subs = " ".join(f"{name}.sub" for name in (*LETTERS, *DIGIT_NAMES, "comma"))
    lines = [f"@base = [{bases}];", f"@sub = [{subs}];", "lookup lower { sub @base by @sub; } lower;"]
    letters = sorted(set("".join(FUNCTIONS)))
    lines.append(f"lookup straight {{ {' '.join(f'sub {letter} by {letter}.upright;' for letter in letters)} }} straight;")
    words = [" ".join(f"{letter}' lookup straight" for letter in word) for word in FUNCTIONS]
    lines.append("feature calt {")
    lines += [f"  sub {word} parenleft;" for word in words]
    lines += ["  ignore sub [underscore @sub] comma' space;", "  sub [underscore @sub] @base' lookup lower;", "} calt;"]
    return "\n".join(lines)


def save(font: TTFont) -> None:
    # The same bytes each time.
    font["head"].created = font["head"].modified = 0
    font.recalcTimestamp = False
    font.save(TARGET)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
