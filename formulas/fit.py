"""Fit: does it fit on the card, when is it tightest, because of what, and how much room is left."""

from sympy import Eq

from memsheet.declare import (
    at_highest, byte, decide, define, every, given, highest_of, name_of_highest, ranks, require, share,
    words,
)

from .model import ranks_of_role
from .runtime import cuda_memory
from .timeline import device, largest_component, least_device

buyer_reserve = given(
    "Reserve that the buyer wants to keep free", share, per="scenario", tex="y", default=0.1, limits=(0, 0.9),
    note="a share of the card",
)

peak = define(
    highest_of(every("instant", least_device)),
    "Memory that must be there at the peak", byte, tex=r"\hat{D}_0",
    source="highest instant, the allocator's cache emptied",
)
typical_peak = define(
    highest_of(every("instant", device)),
    "Memory that nvidia-smi will show at the peak", byte, tex=r"\hat{D}",
    source="highest instant, cached memory included",
)
peak_instant = name_of_highest(every("instant", least_device), "Tightest instant", source="first instant at the peak")
peak_component = define(
    at_highest(every("instant", least_device), every("instant", largest_component)),
    "Largest component then", words, source="definition",
)
usable_memory = define(
    cuda_memory * (1 - buyer_reserve),
    "Memory of the card less the reserve", byte, tex="C_y", source="definition",
)
headroom = define(cuda_memory - peak, "Room left on the card", byte, tex="C_h", source="definition")
headroom_share = define(headroom / cuda_memory, "Room left, as a share", share, tex="y_h", source="definition")
cards = define(
    highest_of(every("role", ranks_of_role)),
    "Cards of this kind", ranks, tex="N", source="every role of a pool runs on all of its cards",
)
verdict = decide(
    "Verdict",
    ("does not fit", peak > cuda_memory),
    ("tight: less than the reserve is left", peak > usable_memory),
    ("tight: the allocator has to give cached memory back", typical_peak >= cuda_memory),
    ("fits", True),
    source="peak against what CUDA can allocate, not against nvidia-smi's total",
)

equal_ranks = require(
    Eq(ranks_of_role, cards),
    "the roles that share these cards have different numbers of ranks: give each the same product of "
    "data_parallel_size, tensor_parallel_size and pipeline_parallel_size",
    source="every role of a pool runs on all of its cards",
)

#: Which row answers which question of a reader.
HEADLINE = {
    "verdict": verdict, "peak": peak, "typical_peak": typical_peak, "peak_instant": peak_instant,
    "peak_component": peak_component, "capacity": cuda_memory, "usable": usable_memory, "reserve": buyer_reserve,
    "headroom": headroom, "headroom_share": headroom_share, "cards": cards,
}
