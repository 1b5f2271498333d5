"""The capacity report: a PDF for the person who decides what to buy, with the workbook attached.

    write(scenario.load("h200-ppo-lora"), Path("out/report.pdf"), workbook=book)
"""

from pathlib import Path

from .. import files
from ..language import load
from ..scenario import Scenario
from . import page, pdf
from .pdf import ReportUnavailable

__all__ = ["ReportUnavailable", "contents", "write"]


def write(scenario: Scenario, path: Path, *, workbook: bytes | None, language: str = "en") -> None:
    """Write the report of a scenario, whole or not at all; the same scenario and workbook give the same bytes.

    The attached workbook has the report's name. Raises ReportUnavailable where WeasyPrint or a library that it needs
    is missing, LanguageError for a language that there is not, OSError where the file cannot be written.
    """
    files.replace(path, contents(scenario, path.stem, workbook=workbook, language=language))


def contents(scenario: Scenario, stem: str, *, workbook: bytes | None, language: str = "en") -> bytes:
    """The bytes of the report; the attached workbook is called `stem`.xlsx. Raises as `write` does."""
    attached = pdf.Attached(f"{stem}.xlsx", workbook) if workbook is not None else None
    return pdf.render(page.html(scenario, load(language), attached.name if attached else ""), attached)
