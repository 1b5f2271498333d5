"""What to buy: the same cells with each card of the GPU catalogue in place of the scenario's own."""

from dataclasses import dataclass

import sympy

from .. import evaluate, nodes
from ..declare import Quantity
from ..model import Key
from .reading import Reading

MEANINGS = ("verdict", "capacity", "headroom", "headroom_share")


@dataclass(frozen=True)
class Offer:
    """A card of the catalogue, sizes in bytes. `fits` is the best verdict, `possible` any but the worst.

    With several stages the figures are those of the tightest. `cautions` are those that only this card brings.
    """

    word: str
    label: str
    capacity: float
    headroom: float
    share: float
    verdict: str
    fits: bool
    possible: bool
    cautions: tuple[str, ...]
    own: bool


def offers(reading: Reading, pool: str) -> list[Offer]:
    """Every card of the catalogue for one pool, the smallest first; empty where the scenario states its memory itself."""
    scenario = reading.scenario
    model, declaration = scenario.model, scenario.model.declaration
    cards = [card for card in model.layout.cards if card.pool == pool]
    option = next((key for key in scenario.inputs if key.row == declaration.structure["gpu"] and key.column.pool == pool), None)
    if option is None or not all(_is_looked_up(reading, reading.headline("capacity", card)) for card in cards):
        return []
    gpu = model.cells[option].quantity
    assert gpu.catalogue is not None
    asked = {meaning: [reading.headline(meaning, card) for card in cards] for meaning in MEANINGS}
    wanted = [*(key for keys in asked.values() for key in keys), *model.checks()]
    evaluator = evaluate.scalar(model, wanted)
    verdict = model.cells[asked["verdict"][0]].quantity
    found = []
    for number, word in enumerate(gpu.choices):
        values = evaluator(scenario.inputs | {option: number})
        tightest = min(range(len(cards)), key=lambda card: values[asked["headroom"][card]])
        checks = [key for key in model.checks() if values[key]]
        refused = any(model.cells[key].quantity.severity == "refuse" for key in checks)
        rank = int(min(values[key] for key in asked["verdict"]))
        found.append(
            Offer(
                word, gpu.catalogue.labels[word], *(float(values[asked[meaning][tightest]]) for meaning in MEANINGS[1:]),
                verdict=reading.text("not_covered") if refused and rank else reading.language.word(verdict.choices[rank]),
                fits=not refused and rank == len(verdict.choices) - 1,
                possible=not refused and rank > 0,
                cautions=tuple(dict.fromkeys(reading.language.label(quantity) for quantity in _new(reading, checks))),
                own=number == scenario.inputs[option],
            )
        )  # fmt: skip
    return sorted(found, key=lambda offer: (offer.capacity, offer.word))


def recommended(found: list[Offer]) -> Offer | None:
    """The smallest card that fits without a caution of its own; else the smallest that fits."""
    fitting = [offer for offer in found if offer.fits]
    return next((offer for offer in fitting if not offer.cautions), next(iter(fitting), None))


def _is_looked_up(reading: Reading, key: Key) -> bool:
    cell = reading.scenario.model.cells[key]
    while isinstance(cell.expression, sympy.Symbol):  # a later stage repeats the first one's
        (key,) = cell.reads()
        cell = reading.scenario.model.cells[key]
    return isinstance(cell.expression, nodes.Lookup)


def _new(reading: Reading, checks: list[Key]) -> list[Quantity]:
    """The cautions that the scenario's own card does not bring."""
    scenario = reading.scenario
    return [scenario.model.cells[key].quantity for key in checks if scenario.model.cells[key].quantity.severity == "caution" and not scenario.values[key]]
