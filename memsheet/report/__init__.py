"""The capacity report: a PDF for the person who decides what to buy, with the workbook attached.

    write(scenario.load("h200-ppo-lora"), Path("out/report.pdf"), workbook=book)
"""

import os
import tempfile
from pathlib import Path

from ..language import load
from ..scenario import Scenario
from .page import page
from .pdf import Attached, ReportUnavailable, pdf

__all__ = ["ReportUnavailable", "contents", "write"]


def write(scenario: Scenario, path: Path, *, workbook: bytes | None, language: str = "en") -> None:
    """Write the report of a scenario; the same scenario and workbook give the same bytes.

    The file appears complete or not at all. Raises ReportUnavailable where WeasyPrint or a library that it needs is
    missing, LanguageError for a language that there is not, OSError where the file cannot be written.
    """
    data = contents(scenario, path.stem, workbook=workbook, language=language)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def contents(scenario: Scenario, stem: str, *, workbook: bytes | None, language: str = "en") -> bytes:
    """The bytes of the report; the attached workbook is called `stem`.xlsx. Raises as `write` does."""
    attached = Attached(f"{stem}.xlsx", workbook) if workbook is not None else None
    return pdf(page(scenario, load(language), attached.name if attached else ""), attached)
