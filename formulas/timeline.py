"""Timeline: from the components held at an instant to what torch allocates and reserves and what nvidia-smi shows."""

from memsheet.declare import byte, components, define, every, highest, lowest, name_of_highest, running, total_of

from .communication import communication_buffers, gathered_in_inference
from .kv_cache import kv_cache, prompt_ids, prompt_kv_cache, token_ids
from .rollout import engine_kv_cache, engine_resident
from .runtime import allocator_floor, allocator_overhead, cublas_workspaces, cuda_context, cuda_memory
from .states import (
    adapters, adapters_at_rest, gradients, optimizer_states, optimizer_states_at_rest, weights, weights_at_rest,
)  # fmt: skip

ALLOCATOR = "torch 2.11, c10/cuda/CUDACachingAllocator.cpp: freed blocks stay reserved until the cache is emptied"

allocated = define(total_of(components("process")), "Allocated", byte, tex="a", source="sum of the components, torch.cuda.max_memory_allocated")
allocator_room = define(cuda_memory - cuda_context - communication_buffers, "Most that the allocator can reserve", byte, tex="r_1",
                        source="what CUDA can allocate, less what lies outside the allocator")  # fmt: skip
least_reserved = define(allocator_floor * allocated, "Reserved, cache emptied", byte, tex="r_0", source=ALLOCATOR)
reserved = running(
    highest(least_reserved, lowest(allocator_overhead * allocated, allocator_room)), "Reserved", byte, emptied=least_reserved, tex="r",
    source=f"{ALLOCATOR}, or no more fits on the card",
)  # fmt: skip
process_memory = define(reserved + cuda_context + communication_buffers, "Process on the card", byte, tex="p", source="nvidia-smi, per process: reserved and CUDA context")
least_process_memory = define(least_reserved + cuda_context + communication_buffers, "Process on the card, cache emptied", byte, tex="p_0",
                              source="under pressure the allocator empties its cache before it fails")  # fmt: skip
least_device = define(total_of(every("process", least_process_memory)), "Device, at least", byte, tex="D_0", source="sum of the processes with their caches emptied")
device = define(total_of(every("process", process_memory)), "Device", byte, tex="D", source="nvidia-smi, memory.used: sum of the processes")
largest_component = name_of_highest(components("card"), "Largest component", source="definition")

#: What a tool measures -> the row that predicts it.
STATISTICS = {"allocated": allocated, "reserved": reserved, "device": device}

#: How charts and tables group the components; what is not named here is "Activations, logits and temporaries".
SERIES = {
    "Weights": (weights, weights_at_rest),
    "Adapters": (adapters, adapters_at_rest),
    "Optimizer states": (optimizer_states, optimizer_states_at_rest),
    "Gradients": (gradients,),
    "KV cache": (kv_cache, prompt_kv_cache, engine_kv_cache),
    "Gathered parameters": (gathered_in_inference,),
    "Workspaces and inputs": (cublas_workspaces, engine_resident, token_ids, prompt_ids),
}
