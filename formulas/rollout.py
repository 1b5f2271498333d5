"""Rollout budget: what a vLLM engine takes of a card, and how many tokens its KV cache holds.

vLLM 0.11 and later: the engine's share of the card is its own, whatever else is on it. First cut: one log of one model
on one H200 settles the constants; older versions differ.
"""

from sympy import floor

from memsheet.declare import byte, caution, count, define, given, highest, require, share, tokens

from .activations import sequence_length
from .kv_cache import kv_bytes_per_token
from .model import bf16, embedding_on_rank, hidden_size, intermediate_size_on_rank, tied_embeddings
from .runtime import cublas_workspaces, cuda_memory
from .states import weights

VLLM = "vLLM 0.24, v1/worker/gpu_worker.py"
PPO_LOG = "verl 0.9.1 with vLLM 0.24 on one H200, ppo_full log"

gpu_memory_utilization = given(
    "Share of the card for the engine", share, per="scenario", tex="u", default=0.5, limits=(0.01, 1),
    note="vLLM and verl: gpu_memory_utilization",
)
max_num_batched_tokens = given(
    "Tokens of one engine step", tokens, per="scenario", tex="T_e", default=8192, limits=(1, 1e7), whole=True,
    note="vLLM: max_num_batched_tokens; verl's default is 8192",
)
block_tokens = given(
    "Tokens of a KV block", tokens, per="scenario", tex="T_b", default=16, limits=(1, 1024), whole=True,
    note="vLLM: block_size",
)
engine_other_memory = given(
    "Engine memory outside torch", byte, per="scenario", tex="E_n", default=208666624,
    source=f"199 MiB: {PPO_LOG}; fitted on that one log, other GPUs unknown",
)

engine_budget = define(gpu_memory_utilization * cuda_memory, "Budget of the engine", byte, tex="E", source=VLLM)
engine_activations = define(
    3 * bf16 * (intermediate_size_on_rank + hidden_size) * max_num_batched_tokens,
    "Activations of the profiling run", byte, tex="E_a",
    source=f"{VLLM}: a dummy forward of one full step; gate and up, activation; input, output, residual",
    note="first cut",
)
replaced_head = define(
    bf16 * tied_embeddings * embedding_on_rank,
    "Output matrix that the engine replaces by the embedding", byte, tex="E_t",
    source=f"{PPO_LOG}: counted as reserved after it is freed, so that the cache gains it; inferred", note="first cut",
)
engine_resident = define(
    cublas_workspaces + engine_other_memory,
    "Engine, asleep", byte, tex="E_z", source=f"{PPO_LOG}; the CUDA context aside", note="first cut",
)
engine_room = define(
    engine_budget - weights - engine_activations - engine_resident + replaced_head,
    "Room for the engine's KV cache", byte, tex="E_r", source=f"{VLLM}: what is left of the budget",
)
kv_blocks = define(
    floor(highest(0, engine_room) / (kv_bytes_per_token * block_tokens)),
    "KV blocks", count, tex="n_e", source="vLLM 0.24, v1/core/kv_cache_utils.py",
)
kv_tokens = define(kv_blocks * block_tokens, "Tokens in the engine's KV cache", tokens, tex="T_v", source="definition")
engine_kv_cache = define(
    kv_tokens * kv_bytes_per_token,
    "KV cache of the engine", byte, tex="E_k", source="vLLM 0.24, v1/core/kv_cache_utils.py: whole blocks",
)

engine_has_cache = require(
    kv_blocks > 0,
    "no memory is left for the engine's KV cache: raise gpu_memory_utilization or use a larger card",
    source=f"{VLLM}: raises 'No available memory for the cache blocks'",
)
engine_holds_request = require(
    kv_tokens >= sequence_length,
    "the engine's KV cache is smaller than one sequence: raise gpu_memory_utilization or shorten the sequence",
    source="vLLM 0.24, v1/core/kv_cache_utils.py: check_enough_kv_cache_memory",
)
engine_unchecked = caution(
    engine_budget > 0,
    "the engine and the order of a verl step rest on one log of a 1B model on one H200", source=PPO_LOG,
)
