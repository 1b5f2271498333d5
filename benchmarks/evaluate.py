"""How long memsheet takes to compute cells, and plain Python and numpy written by hand to compute the same.

    python benchmarks/evaluate.py

All cells of a scenario, once; then the peak of one and of 1,000,000 configurations: LoRA on Llama 2 7B over random
sequence lengths, ranks and micro-batches. The same maths written by hand must give the same bytes.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy
import timing

from memsheet import evaluate, scenario

SCENARIOS = ("h200-ppo-lora", "seed-3-large")
MICROSECONDS_A_CELL, SECONDS_A_SWEEP = 0.15, 3.0
CONFIGURATIONS, CHUNK, BATCH = 1_000_000, 16_384, 64
SETTINGS = (("model", "llama-7b"), ("gpu", "a100-80gb"), ("method", "lora"), ("batch_size", str(BATCH)),
            ("micro_batch_size", "4"), ("sequence_length", "2048"), ("lora_rank", "64"))  # fmt: skip


def peak_by_hand(sequence: Any, rank: Any, micro_batch: Any, highest: Callable[..., Any], context: float, workspace: float) -> Any:
    """The peak in bytes as one would write it for this case alone.

    LoRA on every projection of Llama 2 7B: bf16 base, fp32 adapters, fused attention, no checkpointing, no parallelism.
    """
    hidden, inner, layers, heads, head, vocabulary = 4096, 11008, 32, 32, 128, 32000
    weights = 2 * (layers * (4 * hidden**2 + 3 * hidden * inner + 2 * hidden) + 2 * vocabulary * hidden + hidden)
    widths_in, widths_out = 6 * hidden + inner, 5 * hidden + 2 * inner
    adapters = gradients = temporary = 4 * layers * rank * (widths_in + widths_out)
    moments = 2 * adapters
    tokens = micro_batch * sequence
    norm, attention, logits = 4 * hidden + 4, 8 * hidden + 4 * heads, vocabulary * tokens
    kept = 2 * norm + attention + 6 * inner + 4 * widths_in + 28 * rank
    all_kept = (layers * kept - norm) * tokens
    tables = (4 * head + 8) * sequence
    token_ids = 8 * BATCH * sequence
    accumulated = gradients * (micro_batch < BATCH)
    forward = all_kept + tables + highest(
        (norm + 2 * hidden) * tokens + 10 * logits + 16 * tokens + 8 * micro_batch,
        (16 * hidden + 8) * tokens, (2 * inner + 18 * hidden) * tokens
    )  # fmt: skip
    layer = tokens * highest(kept + 4 * inner + 4 * hidden, norm + attention + 6 * hidden + 4 * heads + 12 * hidden)
    backward = highest(
        accumulated + tables + highest(all_kept + norm * tokens + 12 * logits + 8 * tokens, all_kept + (24 * hidden + 4) * tokens,
                                       all_kept - kept * tokens + layer),
        gradients + tables + layer,
    )  # fmt: skip
    highest_instant = highest(forward, backward, moments + accumulated + forward, moments + backward, moments + gradients + temporary)
    return 1.02 * (weights + adapters + 2 * workspace + token_ids + highest_instant) + context


def highest_of_arrays(*terms: Any) -> Any:
    return functools.reduce(numpy.maximum, terms)


def all_cells() -> None:
    print("All cells of a scenario, compiled, warm")
    for name in SCENARIOS:
        loaded = scenario.load(name)
        function = evaluate.scalar(loaded.model)
        inputs = [loaded.inputs[key] for key in function.inputs]
        (whole,) = timing.best(lambda function=function, inputs=inputs: function.run(inputs), turns=2000)
        cells = len(function.outputs)
        timing.report(f"{name}, {cells:,} cells", whole * 1e6 / cells, "µs a cell", MICROSECONDS_A_CELL)


def peaks() -> None:
    loaded = scenario.load("base/training", SETTINGS)
    (peak,) = loaded.model.headline("peak")
    figures = {key.row: value for key, value in loaded.values.items()}
    context, workspace = figures["cuda_context"], figures["cublas_workspace"]

    one = evaluate.scalar(loaded.model, [peak])
    inputs = [loaded.inputs[key] for key in one.inputs]
    configuration = {name: float(dict(SETTINGS)[name]) for name in ("sequence_length", "lora_rank", "micro_batch_size")}
    ours, theirs = timing.best(
        lambda: one.run(inputs), lambda: peak_by_hand(*configuration.values(), max, context, workspace), turns=5000
    )  # fmt: skip
    print("\nPeak of one configuration")
    timing.report("memsheet, scalar Python", ours * 1e6, "µs")
    timing.report("by hand, plain Python", theirs * 1e6, "µs")
    timing.report("ratio", ours / theirs, "")
    difference = abs(one.run(inputs)[0] / peak_by_hand(*configuration.values(), max, context, workspace) - 1)
    timing.require(difference <= 1e-12, "the same peak")

    random = numpy.random.default_rng(1)
    chosen = {
        "sequence_length": random.integers(128, 32768, CONFIGURATIONS),
        "lora_rank": random.integers(1, 512, CONFIGURATIONS),
        "micro_batch_size": random.integers(1, BATCH + 1, CONFIGURATIONS),
    }
    many = evaluate.arrays(loaded.model, [peak])
    swept = [chosen.get(key.row, loaded.inputs[key]) for key in many.inputs]
    floats = [values.astype(float) for values in chosen.values()]

    def by_hand() -> Any:
        return peak_by_hand(*floats, highest_of_arrays, context, workspace)

    def by_hand_in_chunks() -> Any:
        found = numpy.empty(CONFIGURATIONS)
        for start in range(0, CONFIGURATIONS, CHUNK):
            part = slice(start, start + CHUNK)
            found[part] = peak_by_hand(*(values[part] for values in floats), highest_of_arrays, context, workspace)
        return found

    ours, theirs, chunked = timing.best(lambda: many.run(swept), by_hand, by_hand_in_chunks)
    print(f"\nPeak of {CONFIGURATIONS:,} configurations")
    timing.report("memsheet, numpy", ours, "s", SECONDS_A_SWEEP)
    timing.report("by hand, numpy", theirs, "s")
    timing.report("by hand, numpy, in chunks that stay in cache", chunked, "s")
    timing.report("ratio", ours / theirs, "")
    timing.report("ratio to the one in chunks", ours / chunked, "")
    difference = numpy.abs(many.run(swept)[0] / by_hand() - 1).max()
    timing.require(difference <= 1e-12, f"the same peaks (largest relative difference {difference:.1e})")


if __name__ == "__main__":
    all_cells()
    peaks()
    timing.finish()
