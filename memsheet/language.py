"""The words of reports and workbooks in one language: templates/en.yaml, templates/zh.yaml.

    language = load("zh")
    language.text("report.page", number=3, of=9)
    language.label(quantity)

A language file has fixed texts (`report:`, `workbook:`) and, unless it is English, `labels:` for what formulas and
schedules declare in English. What a file does not translate is shown as declared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import yaml

from .house import folder
from .quantity import Quantity


class LanguageError(ValueError):
    """No such language, or a language file without a text that is needed."""


@dataclass(frozen=True)
class Language:
    """`tag` is the BCP 47 tag of a document in this language; `labels` are kind -> name or declared text -> translation."""

    name: str
    tag: str
    texts: Mapping[str, str]
    labels: Mapping[str, Mapping[str, str]]

    def text(self, key: str, **values: object) -> str:
        """A fixed text, such as "report.verdict", with {placeholders} filled in. Raises LanguageError for an unknown key."""
        if key not in self.texts:
            raise LanguageError(f"templates/{self.name}.yaml has no text {key!r}")
        return self.texts[key].format(**values) if values else self.texts[key]

    def label(self, quantity: Quantity) -> str:
        """What a quantity is called."""
        return self.labels.get("quantities", {}).get(quantity.name, quantity.label)

    def instant(self, label: str) -> str:
        """What an instant is called, by its label: instants of one name mean different things in two schedules."""
        return self._declared("instants", label)

    def schedule(self, title: str) -> str:
        """The title of a schedule."""
        return self._declared("schedules", title)

    def series(self, label: str) -> str:
        """A group of components in charts."""
        return self._declared("series", label)

    def chapter(self, name: str, title: str) -> str:
        """The title of a chapter of formulas."""
        return self.labels.get("chapters", {}).get(name, title)

    def word(self, word: str) -> str:
        """The word of an option, a verdict, a role, a unit or a statistic."""
        return self._declared("words", word)

    def _declared(self, kind: str, text: str) -> str:
        return self.labels.get(kind, {}).get(text, text)


def names() -> list[str]:
    """The languages there are."""
    return sorted(path.stem for path in folder("templates").glob("*.yaml"))


@cache
def load(name: str) -> Language:
    """Read a language. Raises LanguageError for one that there is not."""
    if name not in names():
        raise LanguageError(f"no language {name!r}: one of {', '.join(names())}")
    data = yaml.load(
        (folder("templates") / f"{name}.yaml").read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    texts = {f"{section}.{key}": text for section in ("report", "workbook") for key, text in (data[section] or {}).items()}
    return Language(name, data["tag"], texts, data.get("labels") or {})
