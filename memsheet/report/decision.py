"""Page one: does it fit, what to buy, how much room is left, when it is tightest and because of what."""

from dataclasses import dataclass

from markupsafe import Markup

from ..figures import gib, percent, size
from ..model import Column
from . import chart
from .offers import Offer, offers, recommended
from .reading import Reading

#: A colour for each kind of verdict, with enough contrast on white; the words say it too.
COLOURS = {"good": "#1B7F4B", "tight": "#B26A00", "bad": "#B00020"}


@dataclass(frozen=True)
class Purchase:
    """What to buy for one pool: a sentence, the cards that would do, and those that are too small."""

    heading: str
    advice: str
    rows: tuple[tuple[str, str, str, str, str], ...]
    best: str
    too_small: str
    cautions: tuple[str, ...]


@dataclass(frozen=True)
class Decision:
    """`kind` is good, tight or bad; `facts` are (label, value) of the tightest card, `cards` one row for each card."""

    kind: str
    verdict: str
    facts: tuple[tuple[str, str], ...]
    when: str
    gauge: Markup
    cards: tuple[tuple[str, ...], ...]
    purchases: tuple[Purchase, ...]
    refusals: tuple[str, ...]
    cautions: tuple[str, ...]


def decision(reading: Reading) -> Decision:
    """What the first page says."""
    scenario, text, layout = reading.scenario, reading.text, reading.scenario.model.layout
    card = scenario.tightest_card()
    refusals, kind = _checks(reading, "refuse"), _kind(reading, card)
    tried = {pool: offers(reading, pool) for pool in layout.pools}
    on = {"verdict": reading.value(reading.headline("verdict", card)), "gpu": _gpu(reading, card), "card": reading.card(card)}
    return Decision(
        kind="bad" if refusals else kind,
        verdict=text("verdict_refused") if refusals else text("verdict_on" if len(layout.cards) > 1 else "verdict_card", **on),
        facts=_facts(reading, card),
        when=text(
            "when_and_why", instant=reading.value(reading.headline("peak_instant", card)),
            component=reading.value(reading.headline("peak_component", card)), typical=size(reading.amount("typical_peak", card)),
        ),
        gauge=_gauge(reading, card, COLOURS[kind]),
        cards=_cards(reading),
        purchases=tuple(_purchase(reading, pool, found) for pool, found in tried.items() if not refusals or recommended(found)),
        refusals=refusals,
        cautions=_checks(reading, "caution"),
    )  # fmt: skip


def _kind(reading: Reading, card: Column) -> str:
    """The verdicts are declared from the worst to the best."""
    key = reading.headline("verdict", card)
    number, last = int(reading.scenario.values[key]), len(reading.scenario.model.cells[key].quantity.choices) - 1
    return "bad" if number == 0 else "good" if number == last else "tight"


def _gpu(reading: Reading, card: Column) -> str:
    """The label of the card's GPU."""
    option = reading.gpu_option(card.pool)
    if option is None:
        return reading.text("own_card")
    gpu = reading.scenario.model.cells[option].quantity
    assert gpu.catalogue is not None
    return gpu.catalogue.labels[gpu.choices[int(reading.scenario.values[option])]]


def _facts(reading: Reading, card: Column) -> tuple[tuple[str, str], ...]:
    text, room = reading.text, reading.amount("headroom", card)
    left = text("room") if room >= 0 else text("room_short")
    return (
        (text("peak"), size(reading.amount("peak", card))),
        (text("capacity"), size(reading.amount("capacity", card))),
        (left, f"{size(abs(room))} ({percent(abs(reading.amount('headroom_share', card)))})"),
        (text("reserve"), percent(reading.amount("reserve", card))),
        (text("number_of_cards"), text("each_of", count=int(reading.amount("cards", card)), gpu=_gpu(reading, card))),
    )


def _gauge(reading: Reading, card: Column, colour: str) -> Markup:
    text, room = reading.text, reading.amount("headroom_share", card)
    peak, capacity, usable, reserve = (reading.amount(meaning, card) for meaning in ("peak", "capacity", "usable", "reserve"))
    return chart.gauge(
        peak,
        chart.Lines(
            capacity, usable, text("gauge_capacity", size=size(capacity)), text("gauge_usable", share=percent(reserve), size=size(usable))
        ),
        text("gauge", peak=size(peak), capacity=size(capacity)),
        colour,
        text("gauge_peak", size=size(peak)),
        text("gauge_room", share=percent(room)) if room >= 0 else text("gauge_short", share=percent(-room)),
    )


def _cards(reading: Reading) -> tuple[tuple[str, ...], ...]:
    """A row for each card where there are several; cards with the same figures share one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for card in reading.scenario.model.layout.cards:
        amounts = (gib(reading.amount(meaning, card)) for meaning in ("peak", "capacity", "headroom"))
        share = percent(reading.amount("headroom_share", card))
        words = (reading.value(reading.headline(meaning, card)) for meaning in ("peak_instant", "verdict"))
        alike.setdefault((*amounts, share, *words), []).append(reading.card(card))
    rows = tuple((reading.text("semicolon").join(names), *row) for row, names in alike.items())
    return rows if len(reading.scenario.model.layout.cards) > 1 else ()


def _purchase(reading: Reading, pool: str, found: list[Offer]) -> Purchase:
    text, layout = reading.text, reading.scenario.model.layout
    best = recommended(found)
    heading = text("buy_pool", pool=reading.language.word(pool)) if len(layout.pools) > 1 else text("buy")
    if not found:
        return Purchase(heading, text("buy_own"), (), "", "", ())
    advice = text("buy_none") if best is None else _advice(reading, pool, best)
    possible = [offer for offer in found if offer.possible]
    too_small = reading.listed(offer.label for offer in found if not offer.possible)
    return Purchase(
        heading,
        advice,
        tuple((_name(reading, one), gib(one.capacity), gib(one.headroom), percent(one.share), one.verdict) for one in possible),
        _name(reading, best) if best else "",
        text("too_small", cards=too_small) if too_small else "",
        tuple(f"{offer.label}: {caution}" for offer in possible for caution in offer.cautions),
    )


def _advice(reading: Reading, pool: str, best: Offer) -> str:
    card = next(card for card in reading.scenario.model.layout.cards if card.pool == pool)
    return reading.text(
        "buy_recommended", count=int(reading.amount("cards", card)), card=best.label, reserve=percent(reading.amount("reserve", card)),
        room=size(best.headroom), share=percent(best.share),
    )  # fmt: skip


def _name(reading: Reading, offer: Offer) -> str:
    return f"{offer.label} ({reading.text('this_scenario')})" if offer.own else offer.label


def _checks(reading: Reading, severity: str) -> tuple[str, ...]:
    """Checks that did not pass; with the roles or stages where they did not, unless that is so for all."""
    values, found = reading.scenario.values, []
    for name, keys in reading.rows.items():
        row = reading.scenario.model.declaration[name]
        if row.severity == severity and (failed := [key for key in keys if values[key]]):
            whose = reading.whose(failed, [key for key in keys if not values[key]])
            found.append(reading.language.label(row) + (f" ({whose})" if whose else ""))
    return tuple(found)
