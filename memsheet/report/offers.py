"""What to buy: the same cells with each card of the GPU catalogue in place of the scenario's own."""

from dataclasses import dataclass

import sympy

from .. import nodes
from ..model import Key
from .reading import Reading

#: Cards whose memory differs by less than this factor are of one class: an A100 and an H100 of 80 GB.
SAME_CLASS = 1.02
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
    scenario, model = reading.scenario, reading.scenario.model
    cards = [card for card in model.layout.cards if card.pool == pool]
    option = reading.gpu_option(pool)
    if option is None or not all(_is_looked_up(reading, reading.headline("capacity", card)) for card in cards):
        return []
    gpu = model.cells[option].quantity
    assert gpu.catalogue is not None
    asked = {meaning: [reading.headline(meaning, card) for card in cards] for meaning in MEANINGS}
    tested = {key: model.cells[key].quantity for key in model.checks()}
    verdict = model.cells[asked["verdict"][0]].quantity
    found = []
    for number, word in enumerate(gpu.choices):
        values = scenario.evaluator(scenario.inputs | {option: number})
        tightest = min(range(len(cards)), key=lambda card: values[asked["headroom"][card]])
        capacity, headroom, share = (float(values[asked[meaning][tightest]]) for meaning in MEANINGS[1:])
        checks = {key: row for key, row in tested.items() if values[key]}
        refused = any(quantity.severity == "refuse" for quantity in checks.values())
        new = (row for key, row in checks.items() if row.severity == "caution" and not scenario.values[key])
        rank = int(min(values[key] for key in asked["verdict"]))
        found.append(
            Offer(
                word, gpu.catalogue.labels[word], capacity, headroom, share,
                verdict=reading.text("not_covered") if refused and rank else reading.language.word(verdict.choices[rank]),
                fits=not refused and rank == len(verdict.choices) - 1,
                possible=not refused and rank > 0,
                cautions=tuple(dict.fromkeys(map(reading.language.label, new))),
                own=number == scenario.inputs[option],
            )
        )  # fmt: skip
    return sorted(found, key=lambda offer: (offer.capacity, offer.word))


def recommended(found: list[Offer]) -> Offer | None:
    """The smallest card that fits without a caution of its own; else the smallest that fits.

    The scenario's own card wins among those of its class: nobody buys another for a tenth of a GiB.
    """
    fitting = [offer for offer in found if offer.fits]
    best = next((offer for offer in fitting if not offer.cautions), next(iter(fitting), None))
    own = next((offer for offer in fitting if offer.own), None)
    return own if own and best and own.capacity <= SAME_CLASS * best.capacity else best


def _is_looked_up(reading: Reading, key: Key) -> bool:
    cell = reading.scenario.model.cells[key]
    while isinstance(cell.expression, sympy.Symbol):  # a later stage repeats the first one's
        (key,) = cell.reads()
        cell = reading.scenario.model.cells[key]
    return isinstance(cell.expression, nodes.Lookup)
