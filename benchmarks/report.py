"""How long memsheet takes to make a scenario's report, and WeasyPrint to render the same HTML alone.

    python benchmarks/report.py

Ours is timed from a loaded scenario to the bytes of the PDF: decision, other cards, chart, equations, layout, PDF/A-3
with tags and an attached workbook. WeasyPrint alone gets the finished HTML and style sheets and makes a plain PDF.
"""

import subprocess
import sys

import timing
import weasyprint

from memsheet import report, scenario
from memsheet.house import folder
from memsheet.language import load
from memsheet.report import page

SCENARIOS = (("h200-ppo-lora", "en"), ("seed-3-large", "en"), ("seed-3-large", "zh"))
SECONDS = 1.5
WORKBOOK = b"PK\x03\x04" + bytes(60_000)  # about as large as one


def bare(html: str) -> bytes:
    """The same page by WeasyPrint as it comes."""
    pdf: bytes = weasyprint.HTML(string=html, base_url=str(folder("templates")) + "/").write_pdf()
    return pdf


def first(name: str, language: str) -> float:
    """Seconds of the first report of a process, libraries imported: templates, fonts and printers are unread."""
    program = (
        "import time, weasyprint; from memsheet import report, scenario; "
        f"loaded = scenario.load({name!r}); loaded.values; start = time.perf_counter(); "
        f"report.contents(loaded, 'x', workbook={WORKBOOK[:4]!r} + bytes({len(WORKBOOK) - 4}), language={language!r}); "
        "print(time.perf_counter() - start)"
    )
    paths = f"import sys; sys.path[:0] = {sys.path[:1]!r}; "
    return float(subprocess.run([sys.executable, "-c", paths + program], check=True, capture_output=True, text=True).stdout)


def main() -> None:
    for name, language in SCENARIOS:
        loaded = scenario.load(name)
        html = page.html(loaded, load(language), "x.xlsx")
        ours, alone = timing.best(
            lambda loaded=loaded, language=language: report.contents(loaded, "x", workbook=WORKBOOK, language=language),
            lambda html=html: bare(html),
            turns=3,
        )
        size = len(report.contents(loaded, "x", workbook=WORKBOOK, language=language))
        print(f"{name} ({language}): {len(html) / 1000:,.0f} kB of HTML, {size / 1000:,.0f} kB of PDF")
        timing.report("memsheet, first of a process", min(first(name, language) for _ in range(3)), "s", SECONDS)
        timing.report("memsheet, later ones", ours, "s", SECONDS)
        timing.report("WeasyPrint alone, the same HTML", alone, "s")
        timing.report("ratio", ours / alone, "")
        print()
    timing.finish()


if __name__ == "__main__":
    main()
