"""Writes docs/accuracy.md: how far the formulas are from the runs of measurements/h200.

    .venv/bin/python tools/accuracy.py          # write it
    .venv/bin/python tools/accuracy.py --check  # exit with 1 if it is not current
"""

import json
import re
import statistics
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from memsheet import compare, measurements, reader, scenario
from memsheet.compare import Pair
from memsheet.house import folder
from memsheet.measurements import SCHEDULE, Record

PAGE = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
MIB, GIB = 2**20, 2**30
#: Group of measure.py -> what its runs are.
GROUPS = {
    "sft_small": "full fine-tuning, 0.5B and 1B: bf16, fp32, amp, eager attention",
    "sft_lora": "LoRA, 3B and 7B",
    "sft_big": "full fine-tuning, 7B in bf16 and 3B under amp",
    "gen": "generation with transformers",
    "ppo": "PPO, two adapters on one 7B base",
    "fsdp": "one FSDP2 rank of 2 or 32, 7B and 70B: full and LoRA",
    "fit": "LoRA, 7B, with the process limited to 22 GiB",
}
STATISTICS = {
    "allocated": "`torch.cuda.max_memory_allocated` in the phase",
    "reserved": "`torch.cuda.max_memory_reserved` in the phase",
    "device": "total less free memory of `torch.cuda.mem_get_info`, at the phase's end",
}

TEXT = """\
<!-- made by tools/accuracy.py: do not edit -->
# Accuracy

Predicted beside measured, for the {runs} runs of [measurements/h200](../measurements/h200): torch {torch}, transformers {transformers},
peft {peft}, one {where}. An error is the predicted less the measured value, as a share of the measured value; the tables have its
size without its sign. A phase is what the loop measured one peak over: forward, backward, the optimizer's step, …

## Allocated: what the formulas are about

{allocated}

What is left is the rounding of torch's caching allocator, which no formula here knows: of what the tensors *asked for*
(torch's `requested_bytes`, without the rounding) the prediction is between {requested_low} below and {requested_high} above in
every phase of {requested_runs} runs. (The exception is run 1, alone in a process of its own, whose cuBLAS workspaces appear one by one.
It has the worst error above, in the phase `load`: the formulas count the workspaces from the start.)

{failed} runs ran out of memory. Of the phase that failed, the prediction is at least what was there in {held} of {failed}.

## Reserved and device: ratios, not formulas

{reserved}

{device}

How much the allocator keeps beyond what is allocated depends on the order of every allocation. memsheet says one ratio,
`allocator_overhead`, and these tables show how little one ratio can say. It was {overheads}, as in
`scenarios/base`. The ratios of the runs' peaks, from which these were taken:

{ratios}

Whether a job fits does not rest on that ratio but on `allocator_floor`, {floor}: with memory short the allocator empties its cache
before it fails. Of the {capped} runs with a limit of {limit} it tells {decided} right, which ran out of memory and which did not.

## What this is worth

- **It is no blind test.** Every term of the formulas is a tensor and none has a fitted coefficient, but the runs were at hand when
  the formulas were written: where a residual showed that a tensor was missing, it was looked for and found. A row's source
  says which run settled it.
- **These constants come from these very runs**: `allocator_floor` and `allocator_overhead`, and of the H200's row in the catalogue
  `cuda_memory`, `cuda_context` (with training kernels loaded) and `cublas_workspace` (also in torch's source). The tables cannot
  test them. Contexts of the other GPUs are estimates.
- One GPU, one set of versions, random weights, no padding, no dropout; FSDP ranks ran over a fake process group, so that NCCL's buffers
  are in no figure. Moments of a layer that never were a peak were compared with a replay of the code only; their sources say so.
- **Not measured at all**: tensor and pipeline parallelism, ZeRO stages 1 and 2, DistributedDataParallel, P-Tuning's activations, eager
  attention but in full bf16 fine-tuning. Scenarios that use them say "less sure". The vLLM engine and verl's step rest on one log of
  Llama 3.2 1B on one H200, from which `engine_other_memory` is fitted.

`tests/formulas` holds these errors where they are, and checks that a row or a coefficient that is 5 % off makes a test fail.
"""


def page() -> str:
    """The text of docs/accuracy.md."""
    pairs = {record.name: compare.beside(measurements.scenario_of(record), [record]) for record in runs()}
    everything = [pair for found in pairs.values() for pair in found]
    asked, low, high = requested(pairs)
    failed = [pair for pair in everything if pair.holds is not None and pair.figure.statistic == "allocated"]
    capped, decided, limit = decisions(pairs)
    used = {record.settings[SCHEDULE] for record in runs()}
    first = runs()[0]
    return TEXT.format(
        **first.versions, where=first.where, runs=len(pairs),
        **{statistic: "\n".join(table(statistic, everything)) for statistic in STATISTICS},
        requested_runs=asked, requested_low=f"{-low / MIB:.2f} MiB", requested_high=f"{high / MIB:.2f} MiB",
        failed=len(failed), held=sum(bool(pair.holds) for pair in failed),
        overheads=", ".join(f"{ratio} for {schedule.replace('_', ' ')}" for schedule, ratio in overheads().items() if schedule in used),
        ratios="\n".join(ratios(everything)), floor=default_of("allocator_floor"),
        capped=capped, decided=decided, limit=limit,
    )  # fmt: skip


@cache
def runs() -> tuple[Record, ...]:
    """The runs of measurements/h200, with the overhead that a built-in scenario of their schedule has."""
    found = [record for record in measurements.load() if record.name.startswith("h200-runs-")]
    ratios = overheads()
    return tuple(
        replace(record, settings=record.settings | {"allocator_overhead": ratios[record.settings[SCHEDULE]]}) for record in found
    )


def overheads() -> dict[str, str]:
    """Schedule -> allocator_overhead of its base scenario."""
    trees = [reader.read(path).plain() for path in sorted((folder("scenarios") / "base").glob("*.yaml"))]
    return {str(tree["schedule"]): tree["inputs"]["allocator_overhead"] for tree in trees if "allocator_overhead" in tree["inputs"]}


def group_of(record: Record) -> str:
    """The group of measure.py that a run belongs to."""
    return record.source.rpartition("group ")[2]


def table(statistic: str, pairs: Iterable[Pair]) -> Iterator[str]:
    """The errors of one statistic, by group."""
    errors: dict[str, list[tuple[float, str]]] = {group: [] for group in GROUPS}
    for pair in pairs:
        if pair.figure.statistic == statistic and pair.error is not None:
            errors[group_of(pair.record)].append((abs(pair.error), pair.record.name))
    yield f"**{statistic}**, {STATISTICS[statistic]}:"
    yield ""
    yield "| runs | what they are | number | phases | median | 90th percentile | worst |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for group, found in errors.items():
        yield line(f"`{group}`", GROUPS[group], found)
    yield line("all", "", [one for found in errors.values() for one in found])


def line(name: str, about: str, found: list[tuple[float, str]]) -> str:
    shares = sorted(share for share, _ in found)
    high = shares[min(len(shares) - 1, int(0.9 * len(shares)))]
    cells = [name, about, len({run for _, run in found}), len(found), *map(percent, (statistics.median(shares), high, shares[-1]))]
    return f"| {' | '.join(map(str, cells))} |"


def percent(share: float) -> str:
    return f"{share:.2%}".replace("%", " %")


def ratios(pairs: Iterable[Pair]) -> Iterator[str]:
    """What the allocator had reserved at most over what was allocated at most, in each run that was neither limited nor failed."""
    peaks: dict[str, dict[str, dict[str, int]]] = {group: {} for group in GROUPS if group != "fit"}
    for pair in pairs:
        if (group := group_of(pair.record)) in peaks and pair.figure.statistic != "device":
            of_run = peaks[group].setdefault(pair.record.name, {"allocated": 0, "reserved": 0})
            of_run[pair.figure.statistic] = max(of_run[pair.figure.statistic], pair.figure.bytes)
    yield "| runs | lowest | median | highest |"
    yield "|---|---:|---:|---:|"
    for group, of_group in peaks.items():
        found = [of_run["reserved"] / of_run["allocated"] for of_run in of_group.values()]
        yield f"| `{group}` | {min(found):.2f} | {statistics.median(found):.2f} | {max(found):.2f} |"


def default_of(name: str) -> str:
    """The default of an input."""
    return str(scenario.declaration()[name].default)


def requested(pairs: dict[str, list[Pair]]) -> tuple[int, float, float]:
    """How many runs, and the lowest and highest difference from what tensors asked for, in bytes.

    Workspaces that earlier runs of the process left stand in for the run's own; run 1 had none before it.
    """
    differences: dict[str, list[float]] = {}
    for name, run in lines().items():
        if run["baseline_allocated"]:
            found = measurements.scenario_of(pairs[name][0].record)
            (workspaces,) = (value for key, value in found.values.items() if key.row == "cublas_workspaces" and not key.column.instant)
            asked = {instant(phase["phase"]): phase["requested_peak"] for phase in run["phases"]}
            differences[name] = [
                pair.predicted - workspaces + run["baseline_allocated"] - asked[pair.figure.phase]
                for pair in pairs[name]
                if pair.figure.statistic == "allocated" and pair.error is not None
            ]
    every = [difference for found in differences.values() for difference in found]
    return len(differences), min(every), max(every)


def decisions(pairs: dict[str, list[Pair]]) -> tuple[int, int, str]:
    """How many runs had a limit, of how many the floor tells whether they ran out of memory, and the limit."""
    limits = {name: run["config"]["cap_gib"] * GIB for name, run in lines().items() if run["config"].get("cap_gib")}
    right = 0
    for name, limit in limits.items():
        found = measurements.scenario_of(pairs[name][0].record)
        needed = max(value for key, value in found.values.items() if key.row == "least_reserved")
        right += (needed > limit) == (pairs[name][0].record.status == "out of memory")
    (limit,) = set(limits.values())
    return len(limits), right, f"{limit / GIB:g} GiB"


@cache
def lines() -> dict[str, dict]:
    """The runs as measure.py wrote them, which say more than a record has."""
    text = (folder("measurements") / "h200" / "runs.jsonl").read_text(encoding="utf-8")
    return {f"h200-runs-{number}": json.loads(line) for number, line in enumerate(text.splitlines()) if number}


def instant(phase: str) -> str:
    """measure.py counts steps from the name's end: forward1."""
    return re.sub(r"(?<=[a-z])(?=\d$)", "_", phase)


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == page() else "docs/accuracy.md is not current: run tools/accuracy.py")
    PAGE.write_text(page(), encoding="utf-8")
