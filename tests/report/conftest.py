"""Scenarios and their reports, each made once."""

import io
from collections.abc import Callable
from functools import cache

import pytest

pytest.importorskip("weasyprint", reason="reports need WeasyPrint and Pango", exc_type=(ImportError, OSError))

import pypdf

from memsheet import report, scenario
from memsheet.language import load
from memsheet.report.reading import Reading

WORKBOOK = b"PK\x03\x04 stands for a workbook"


@cache
def _scenario(name: str, settings: tuple[tuple[str, str], ...] = ()) -> scenario.Scenario:
    return scenario.load(name, settings)


@cache
def _pdf(name: str, language: str = "en") -> bytes:
    return report.contents(_scenario(name), name, workbook=WORKBOOK, language=language)


@pytest.fixture(scope="session")
def loaded() -> Callable[..., scenario.Scenario]:
    return _scenario


@pytest.fixture(scope="session")
def reading() -> Callable[..., Reading]:
    def made(name: str, settings: tuple[tuple[str, str], ...] = (), language: str = "en") -> Reading:
        return Reading(_scenario(name, settings), load(language))

    return made


@pytest.fixture(scope="session")
def pdf() -> Callable[..., bytes]:
    """The report of a built-in scenario."""
    return _pdf


@pytest.fixture(scope="session")
def text_of() -> Callable[[bytes], str]:
    """All text of a PDF; every run of white space is one space, so that line breaks do not matter."""

    return _text


@cache
def _text(data: bytes) -> str:
    return " ".join(" ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages).split())
