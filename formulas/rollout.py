"""Rollout budget: what a vLLM engine takes of a card, and how many tokens its KV cache holds.

vLLM 0.11 and later: the engine's share of the card is its own, whatever else is on it. First cut; older versions differ.
"""

from sympy import floor

from memsheet.declare import byte, count, define, given, require, sequences, share, tokens

from .activations import sequence_length
from .kv_cache import kv_bytes_per_token
from .model import bf16, hidden_size, intermediate_size_on_rank
from .runtime import cublas_workspace, cuda_memory
from .states import weights

VLLM = "vLLM 0.24, v1/worker/gpu_worker.py"

gpu_memory_utilization = given("Share of the card for the engine", share, per="scenario", tex="u", default=0.5, limits=(0.01, 1), note="vLLM and verl: gpu_memory_utilization")
max_num_batched_tokens = given("Tokens of one engine step", tokens, per="scenario", tex="T_e", default=8192, limits=(1, 1e7), whole=True,
                               note="vLLM: max_num_batched_tokens; verl's default is 8192")  # fmt: skip
block_tokens = given("Tokens of a KV block", tokens, per="scenario", tex="T_b", default=16, limits=(1, 1024), whole=True, note="vLLM: block_size")
engine_other_memory = given("Engine memory outside torch", byte, per="scenario", tex="C_e", default=204010946,
                            source="0.19 GiB: vLLM 0.24 on one H200, ppo_full log; fitted on that one log, other GPUs unknown")  # fmt: skip

engine_budget = define(gpu_memory_utilization * cuda_memory, "Budget of the engine", byte, tex="M_u", source=VLLM)
engine_activations = define(3 * bf16 * (intermediate_size_on_rank + hidden_size) * max_num_batched_tokens + 2 * cublas_workspace,
                            "Activation peak of the profiling run", byte, tex="M_p", source=f"{VLLM}: a dummy forward of one full step; inferred from the ppo_full log")  # fmt: skip
engine_kv_cache = define(engine_budget - weights - engine_activations - engine_other_memory, "KV cache of the engine", byte, tex="M_e",
                         source=f"{VLLM}: what is left of the budget")  # fmt: skip
engine_resident = define(2 * cublas_workspace + engine_other_memory, "Engine, asleep", byte, tex="M_z", source="verl 0.9.1 with vLLM 0.24, ppo_full log: context aside")
kv_blocks = define(floor(engine_kv_cache / (kv_bytes_per_token * block_tokens)), "KV blocks", count, tex="n_e", source="vLLM 0.24, v1/core/kv_cache_utils.py")
kv_tokens = define(kv_blocks * block_tokens, "Tokens in the engine's KV cache", tokens, tex="T_{kv}", source="definition")
concurrent_sequences = define(kv_tokens / sequence_length, "Full sequences at once", sequences, tex="n_c", source="definition")

engine_has_cache = require(engine_kv_cache > 0, "no memory is left for the engine's KV cache: raise gpu_memory_utilization, use more tensor-parallel ranks or a larger card",
                           source=f"{VLLM}: raises 'No available memory for the cache blocks'")  # fmt: skip
engine_holds_request = require(kv_tokens >= sequence_length, "the engine's KV cache is smaller than one sequence: raise gpu_memory_utilization or shorten the sequence",
                               source="vLLM 0.24, v1/core/kv_cache_utils.py: check_enough_kv_cache_memory")  # fmt: skip
