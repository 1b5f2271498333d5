"""HTML to PDF/A-3 with WeasyPrint: no network, no files but our own templates, the same bytes for the same input."""

import base64
import datetime
import gc
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..house import folder

#: WeasyPrint wants a base for relative addresses; one of an unknown kind leaves them as they stand in our templates.
BASE = "templates:/"
STYLES = ("report.css", "equations.css")
DRAWINGS = ("brace.svg", "ceiling-left.svg", "ceiling-right.svg", "floor-left.svg", "floor-right.svg")
ASSETS = dict.fromkeys(STYLES, "text/css") | dict.fromkeys(DRAWINGS, "image/svg+xml") | {"maths.ttf": "font/ttf"}
WORKBOOK = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#: PDF/A asks for a date of what is attached; any fixed one keeps the bytes the same.
FIXED_TIME = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)


class ReportUnavailable(RuntimeError):
    """WeasyPrint, or a system library or font that it needs, is missing; the message says what to install."""


@dataclass(frozen=True)
class Attached:
    """A file inside the PDF."""

    name: str
    data: bytes


def render(html: str, attached: Attached | None) -> bytes:
    """The PDF of a page. Raises ReportUnavailable."""
    weasyprint = _weasyprint()
    fetcher = _fetcher(weasyprint)
    attachments = []
    if attached is not None:
        # As an address with its type: guessed from the name, the type would depend on the machine.
        url = f"data:{WORKBOOK};base64,{base64.b64encode(attached.data).decode()}"
        attachments.append(
            weasyprint.Attachment(
                url=url, name=attached.name, url_fetcher=fetcher, created=FIXED_TIME, modified=FIXED_TIME, relationship="Source"
            )
        )
    identifier = hashlib.sha256(html.encode() + (attached.data if attached else b"")).hexdigest()[:32]
    document = weasyprint.HTML(string=html, base_url=BASE, url_fetcher=fetcher)
    with _no_collection():
        return bytes(document.write_pdf(pdf_variant="pdf/a-3a", pdf_identifier=identifier, attachments=attachments))


def _weasyprint() -> Any:
    try:
        import weasyprint
    except ImportError as error:
        raise ReportUnavailable(f"reports need WeasyPrint ({error}): pip install 'memsheet[report]', or build with --no-pdf") from error
    except OSError as error:  # cffi found no Pango
        raise ReportUnavailable(
            f"WeasyPrint finds no Pango ({str(error).splitlines()[0]}): install it, on Debian and Ubuntu with "
            "`apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core`, or build with --no-pdf"
        ) from error
    return weasyprint


def _fetcher(weasyprint: Any) -> Any:
    """Gives data: addresses and our own assets; anything else is refused before it is looked at."""

    class Fetcher(weasyprint.urls.URLFetcher):  # type: ignore[misc]
        def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:
            if url.startswith("data:"):
                return super().fetch(url, headers)
            if url not in ASSETS:
                raise ValueError("the report reads nothing but its own templates")
            data = (folder("templates") / url).read_bytes()
            return weasyprint.urls.URLFetcherResponse(url, data, {"Content-Type": ASSETS[url]})

    return Fetcher()


@contextmanager
def _no_collection() -> Iterator[None]:
    """Layout makes a million objects that live to its end; looking for garbage among them takes a sixth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
