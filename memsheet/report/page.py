"""The HTML of the report: what the sections say, put into templates/report.html.j2."""

import textwrap
from functools import cache

import jinja2

from .. import __version__
from ..house import folder
from ..language import Language
from ..scenario import Scenario
from . import appendix, decision, measured, path, sections
from .reading import Reading

LONGEST_HEADER = 76


def html(scenario: Scenario, language: Language, attachment: str) -> str:
    """The report as one HTML text. `attachment` is the name of the attached workbook, or empty."""
    reading = Reading(scenario, language)
    card = scenario.tightest_card()
    return _template().render(
        t=reading.text,
        tag=language.tag,
        version=__version__,
        title=scenario.title,
        short_title=textwrap.shorten(scenario.title, LONGEST_HEADER, placeholder=" …"),
        description=scenario.description,
        scenario=scenario,
        schedule_title=language.schedule(scenario.schedule.title),
        attachment=attachment,
        decision=decision.decision(reading),
        cards=sections.cards(reading),
        steps=path.steps(reading, reading.headline("peak", card)),
        smallest_share=path.SMALLEST_SHARE,
        records=measured.records(reading),
        inputs=sections.inputs(reading),
        sources=sections.sources(reading),
        chapters=appendix.chapters(reading),
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder("templates")), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html.j2")
