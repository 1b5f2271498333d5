"""What a scenario was asked with: the inputs that somebody stated, those left at their default, and those without effect."""

from dataclasses import dataclass

from .model import Key
from .scenario import Scenario
from .terminal import value_text


@dataclass(frozen=True)
class Setting:
    """An input by its row: the text of its value (or of each role's), who stated it, and whether anything depends on it.

    `origin` is "command line", "file" or "default"; `idle` settings change nothing on the timeline or in the headline.
    """

    name: str
    text: str
    origin: str
    idle: bool


def settings(scenario: Scenario) -> list[Setting]:
    """Every input of a scenario, in the order of declaration."""
    rows: dict[str, list[Key]] = {}
    for key in scenario.model.inputs:
        rows.setdefault(key.row, []).append(key)
    return [
        Setting(name, _text(scenario, keys), origin := _origin(scenario, keys), origin != "default" and _idle(scenario, keys))
        for name in scenario.model.declaration.rows
        if (keys := rows.get(name))
    ]


def _text(scenario: Scenario, keys: list[Key]) -> str:
    """One value, or whose value is which."""
    texts = {key: value_text(scenario.model.cells[key].quantity, scenario.inputs[key]) for key in keys}
    if len(set(texts.values())) == 1:
        return texts[keys[0]]
    return ", ".join(f"{key.column.role or key.column.process or key.column.pool} {text}" for key, text in texts.items())


def _origin(scenario: Scenario, keys: list[Key]) -> str:
    lines = [scenario.places[key].line for key in keys if key in scenario.places]
    return "default" if not lines else "command line" if 0 in lines else "file"


def _idle(scenario: Scenario, keys: list[Key]) -> bool:
    """Whether no other value tried changes what is on a card at any instant, or the headline."""
    quantity = scenario.model.cells[keys[0]].quantity
    value = scenario.inputs[keys[0]]
    others = range(len(quantity.choices)) if quantity.choices else (2 * value + 1, value / 2)
    headline = set(scenario.model.declaration.headline.values())
    told = [key for key in scenario.model.cells if (key.column.instant or key.row in headline) and key not in keys]
    for other in others:
        changed = scenario.evaluator({**scenario.inputs, **dict.fromkeys(keys, other)})
        if any(changed[key] != scenario.values[key] for key in told):
            return False
    return True
