"""Runtime: what CUDA, cuBLAS and the caching allocator add to the tensors."""

from pathlib import Path

from memsheet.catalogue import read
from memsheet.declare import byte, catalogue_option, catalogue_value, count, define, given

RATIOS = "reserved over allocated of the 64 runs in measurements/h200: torch 2.11, one H200, default allocator settings"

gpu = catalogue_option(read(Path(__file__).with_name("catalogues") / "gpus.yaml"), "GPU", per="card")
cuda_memory = catalogue_value(gpu, "cuda_memory", tex="C")
cublas_workspace = catalogue_value(gpu, "cublas_workspace", tex="C_b")
cuda_context = catalogue_value(gpu, "cuda_context", tex="C_c")

allocator_floor = given(
    "Reserved over allocated, at least", count, per="process", tex="o_1", default=1.02, limits=(1, 4),
    source=f"{RATIOS}: 1.02 decides the 12 runs with a memory cap; the allocator empties its cache before it fails",
)
allocator_overhead = given(
    "Reserved over allocated, typically", count, per="process", tex="o_2", default=1.06, limits=(1, 4),
    source=f"{RATIOS}: medians LoRA 1.05, full 1.06, generation 1.03, FSDP 1.24, PPO with generation 1.66",
)
cublas_workspaces = define(
    2 * cublas_workspace,
    "cuBLAS workspaces", byte, tex="C_w",
    source="torch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp: one for each thread, forward and backward",
)

#: Which input names the card: the one that a buyer varies.
STRUCTURE = {"gpu": gpu}
