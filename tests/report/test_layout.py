"""Pages as pictures of text: nothing runs over the margins, no page is nearly empty, the font of equations is ours."""

import io
import re
import shutil
import subprocess

import pypdf
import pytest

from memsheet import report, scenario

LEFT, RIGHT, TOP, BOTTOM = 56.69, 595.28 - 56.69, 62.0, 841.89 - 57.0  # points: 20 mm at the sides of A4


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="needs poppler's pdftotext")
@pytest.mark.parametrize("name", scenario.names())
@pytest.mark.parametrize("tag", ["en", "zh"])
def test_nothing_runs_over_the_margins(name, tag, pdf, tmp_path):
    (tmp_path / "a.pdf").write_bytes(pdf(name, tag))
    subprocess.run(["pdftotext", "-bbox", "a.pdf", "a.html"], cwd=tmp_path, check=True)
    pages = (tmp_path / "a.html").read_text(encoding="utf-8").split("<page ")[1:]
    for number, page in enumerate(pages, 1):
        words = re.findall(r'xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>', page)
        for left, _, right, _, word in words:
            assert float(left) > LEFT - 1 and float(right) < RIGHT + 1, (number, word)
        inside = [word for _, top, _, bottom, word in words if float(top) > TOP and float(bottom) < BOTTOM]
        assert len(inside) > (40 if number < len(pages) else 5), f"page {number} is nearly empty"


def fonts(data):
    pages = pypdf.PdfReader(io.BytesIO(data)).pages
    return {font.get_object()["/BaseFont"][8:] for page in pages for font in page["/Resources"]["/Font"].values()}


def test_equations_are_set_in_our_own_font(pdf):
    assert any(name.startswith("memsheet-maths") for name in fonts(pdf("h200-ppo-lora")))
    assert not any("Italic" in name or "Oblique" in name for name in fonts(pdf("h200-ppo-lora")))


def test_every_letter_of_a_symbol_is_in_it():
    """A letter that the font lacks would be set in another one, without its subscript."""
    from fontTools.ttLib import TTFont

    from memsheet.house import folder
    from memsheet.printers.fillers import tex

    known = TTFont(folder("templates") / "maths.ttf").getBestCmap()
    for row in scenario.declaration().rows.values():
        if row.tex:
            text = re.sub("<[^>]*>", "", tex(row.tex))
            assert {ord(letter) for letter in text} <= known.keys(), row.name


def test_subscripts_are_ended_by_what_follows():
    """`M_w` is one thing and `max(b_1, b_2)` has two: asked of HarfBuzz, through the glyphs that WeasyPrint draws."""
    page = (
        '<html lang="en"><title>x</title><link rel="stylesheet" href="equations.css">'
        '<p class="equation">M_w,0 = max(b_1, b_2) + d_x</p>'
    )
    text = pypdf.PdfReader(io.BytesIO(report.pdf.render(page, None))).pages[0].extract_text()
    assert "".join(text.split()) == "M_w,0=max(b_1,b_2)+d_x"
