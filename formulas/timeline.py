"""Timeline: from the components held at an instant to what torch allocates and reserves and what nvidia-smi shows."""

from memsheet.declare import byte, components, define, every, highest, lowest, name_of_highest, running, total_of

from .communication import communication_buffers, gathered_at_loss, gathered_in_inference, gradient_buckets
from .kv_cache import kv_cache, prompt_ids, prompt_kv_cache, token_ids
from .rollout import engine_kv_cache, engine_resident
from .runtime import allocator_floor, allocator_overhead, cublas_workspaces, cuda_context, cuda_memory
from .states import (
    adapters, adapters_at_rest, adapters_in_inference, gradients, optimizer_states, optimizer_states_at_rest, weights,
    weights_at_rest,
)

ALLOCATOR = "torch 2.11, c10/cuda/CUDACachingAllocator.cpp"

allocated = define(
    total_of(components("process")),
    "Allocated", byte, tex="D_a", source="torch.cuda.max_memory_allocated: sum of the components",
)
allocator_room = define(
    cuda_memory - cuda_context - communication_buffers,
    "Most that the allocator can reserve", byte, tex="D_1",
    source="what CUDA can allocate, less what lies outside the allocator",
)
least_reserved = define(
    allocator_floor * allocated,
    "Reserved, cache emptied", byte, tex="D_{r,0}",
    source=f"{ALLOCATOR}: the cache is emptied before an allocation fails",
)
reserved = running(
    highest(least_reserved, lowest(allocator_overhead * allocated, allocator_room)),
    "Reserved", byte, emptied=least_reserved, tex="D_r",
    source=f"{ALLOCATOR}: freed blocks stay reserved until the cache is emptied, or until no more fits on the card",
)
least_process_memory = define(
    least_reserved + cuda_context + communication_buffers,
    "Process on the card, cache emptied", byte, tex="D_{p,0}",
    source="nvidia-smi, per process: reserved, CUDA context and buffers of libraries",
)
process_memory = define(
    reserved + cuda_context + communication_buffers,
    "Process on the card", byte, tex="D_p",
    source="nvidia-smi, per process: reserved, CUDA context and buffers of libraries",
)
least_device = define(
    total_of(every("process", least_process_memory)),
    "Device, at least", byte, tex="D_0", source="sum of the processes with their caches emptied",
)
processes_memory = define(
    total_of(every("process", process_memory)),
    "All processes, if they had the room", byte, tex="D_s", source="sum of the processes",
)
device = define(
    highest(least_device, lowest(processes_memory, cuda_memory)),
    "Device", byte, tex="D",
    source="nvidia-smi, memory.used: the processes, which give cached memory back where the card has no more",
)
largest_component = name_of_highest(components("card"), "Largest component", source="definition")

#: What a tool measures -> the row that predicts it.
STATISTICS = {"allocated": allocated, "reserved": reserved, "device": device}

#: How charts and tables group the components; what is not named here is "Activations, logits and temporaries".
SERIES = {
    "Weights": (weights, weights_at_rest),
    "Adapters": (adapters, adapters_at_rest, adapters_in_inference),
    "Optimizer states": (optimizer_states, optimizer_states_at_rest),
    "Gradients": (gradients, gradient_buckets),
    "KV cache": (kv_cache, prompt_kv_cache, engine_kv_cache),
    "Gathered parameters": (gathered_in_inference, gathered_at_loss),
    "Workspaces and inputs": (cublas_workspaces, engine_resident, token_ids, prompt_ids),
}
