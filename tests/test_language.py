"""Language files: the same keys, and everything that is shown has a translation."""

import re
from pathlib import Path
from string import Formatter

import pytest

from memsheet import language, scenario, schedule
from memsheet.house import folder

ENGLISH, CHINESE = language.load("en"), language.load("zh")


def placeholders(text):
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts():
    assert language.names() == ["en", "zh"]
    assert ENGLISH.texts.keys() == CHINESE.texts.keys()
    for key, text in ENGLISH.texts.items():
        assert placeholders(text) == placeholders(CHINESE.texts[key]), key


def test_no_text_is_without_use():
    """Keys stand in the code as they are, or (stages, bounds, words between symbols) are put together."""
    places = [*folder("templates").glob("*.j2"), *Path(language.__file__).parent.rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in places)
    for key in ENGLISH.texts:
        name = key.partition(".")[2]
        assert re.search(rf"""["']({name}|{name.partition("_")[2] or name})["']""", code), key


def test_chinese_covers_everything_that_is_declared():
    declaration = scenario.declaration()
    labels = CHINESE.labels
    assert labels["quantities"].keys() == declaration.rows.keys()
    assert labels["chapters"].keys() == declaration.chapters.keys()
    assert labels["series"].keys() == set(declaration.series_names())
    schedules = [schedule.load(path, declaration) for path in (folder("scenarios") / "schedules").glob("*.yaml")]
    assert labels["instants"].keys() == {instant.label for found in schedules for instant in found.instants}
    assert labels["schedules"].keys() == {found.title for found in schedules}
    words = set(declaration.statistics) | {row.unit.name for row in declaration.rows.values()} - {"1"}
    words |= {name for found in schedules for pair in found.roles.items() for name in pair}
    words |= {name.replace("_", " ") for found in schedules for name in found.phases if name not in {one.name for one in found.instants}}
    words |= {word for row in declaration.rows.values() if not row.is_given for word in row.choices}
    assert words <= labels["words"].keys()


def test_labels_are_translated_and_fall_through():
    weights = scenario.declaration()["weights"]
    assert (ENGLISH.label(weights), CHINESE.label(weights)) == ("Weights", "权重")
    assert (ENGLISH.word("fits"), CHINESE.word("fits"), CHINESE.word("lora")) == ("fits", "放得下", "lora")
    assert CHINESE.instant("Actor update") == "Actor 更新"
    assert CHINESE.instant("an instant of somebody's schedule") == "an instant of somebody's schedule"


def test_values_are_filled_in_and_never_read_as_patterns():
    assert ENGLISH.text("report.made_by", version="{0} {x} {{7*7}}") == "memsheet {0} {x} {{7*7}}"


def test_unknown_languages_and_texts_are_refused():
    with pytest.raises(language.LanguageError, match="en, zh"):
        language.load("../en")
    with pytest.raises(language.LanguageError, match=r"no text 'report\.nothing'"):
        ENGLISH.text("report.nothing")
