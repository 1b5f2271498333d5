"""Activations: what forward keeps for backward, layer by layer, and the highest moments inside one layer.

Bytes for each token of one micro-batch, after torch 2.11 and transformers 5.17 with fused (flash) attention unless said.
"""

from sympy import ceiling

from memsheet.declare import (
    all_of,
    byte,
    choose,
    count,
    define,
    given,
    highest,
    implies,
    is_word,
    lowest,
    require,
    sequences,
    tokens,
    when,
)  # fmt: skip

from .model import (
    attention_heads,
    bf16,
    fp32,
    head_dimension,
    heads_on_rank,
    hidden_size,
    int64,
    intermediate_size_on_rank,
    key_value_heads,
    key_value_width_on_rank,
    layers_on_stage,
    pipeline_parallel_size,
    query_key_norms,
    query_width_on_rank,
    stage_index,
    tensor_parallel_size,
)  # fmt: skip
from .states import (
    adapted_inputs,
    adapted_projections,
    adapter_on_down,
    adapter_on_gate,
    adapter_on_key,
    adapter_on_query,
    adapter_on_up,
    adapter_on_value,
    adapter_precision,
    adapter_width,
    lora_rank,
    method,
    precision,
    virtual_tokens,
)  # fmt: skip

LAYER = "torch 2.11 and transformers 5.17, models/llama/modeling_llama.py; exact in runs 1 to 37 of measurements/h200"
LORA = "peft 0.21, tuners/lora/layer.py; exact in runs 25 to 34 of measurements/h200"

batch_size = given("Sequences of one step on a data-parallel rank", sequences, per="scenario", tex="B", limits=(1, 1e6), whole=True)
sequence_length = given("Tokens of a sequence, prompt and response", tokens, per="scenario", tex="S", limits=(1, 1e8), whole=True)
micro_batch_size = given("Sequences in one forward and backward pass", sequences, per="scenario", tex="B_m", limits=(1, 1e6), whole=True)
checkpointing = given("Activation checkpointing", choices=("none", "full"), default="none", note="full: each layer keeps its input only and is recomputed")
attention = given("Attention implementation", choices=("sdpa", "eager"), default="sdpa",
                  note="sdpa: the fused flash kernel in bf16; eager keeps the score matrix")  # fmt: skip
sequence_parallel = given("Sequence parallelism", choices=("no", "yes"), default="no", note="Megatron: splits norms and residuals among the tensor-parallel ranks")

micro_batches = define(ceiling(batch_size / micro_batch_size), "Micro-batches of a step", count, tex="n_b", source="definition", per="scenario")
sequence_on_rank = define(sequence_length + choose(method, frozen=0, full=0, lora=0, p_tuning=virtual_tokens), "Tokens of a sequence with virtual tokens", tokens,
                          tex="S_v", source="peft 0.21, tuners/p_tuning: virtual tokens stand before the prompt")  # fmt: skip
micro_tokens = define(micro_batch_size * sequence_on_rank, "Tokens of a micro-batch", tokens, tex="T", source="definition")
norm_split = define(choose(sequence_parallel, no=1, yes=tensor_parallel_size), "Ranks that share norms and residuals", count, tex="N_s",
                    source="Korthikanti 2022, Reducing Activation Recomputation, section 4")  # fmt: skip
compute_width = define(choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=bf16, mixed=bf16), "Bytes of an activation in a matrix product", byte, tex="c",
                       source="torch 2.11, autocast: matrix products in bf16")  # fmt: skip
residual_width = define(choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=fp32, mixed=bf16), "Bytes of the residual stream", byte, tex="c_r",
                        source="torch 2.11, autocast: additions keep fp32")  # fmt: skip
is_grouped = key_value_heads < attention_heads
is_training_base = is_word(method, "full")

norm_kept = define(
    choose(method, frozen=0, lora=fp32 * hidden_size + fp32, p_tuning=fp32 * hidden_size + fp32,
           full=choose(precision, bf16=(fp32 + 2 * bf16) * hidden_size + fp32, mixed=(fp32 + 2 * bf16) * hidden_size + fp32,
                       fp16=(fp32 + 2 * bf16) * hidden_size + fp32,
                       fp32=3 * fp32 * hidden_size + fp32, amp=2 * fp32 * hidden_size + fp32)) / norm_split,
    "Kept by one RMSNorm, for each token", byte, tex="k_n",
    source=f"{LAYER}: fp32 copy and inverse root; where the weight is trained also the normalised copy and the output",
)  # fmt: skip
flash_kept = define(compute_width * (2 * query_width_on_rank + 2 * key_value_width_on_rank) + fp32 * heads_on_rank,
                    "Kept by fused attention, for each token", byte, tex="k_f", source=f"{LAYER}: q, k, v, output, log-sum-exp")  # fmt: skip
math_kept = define(4 * fp32 * query_width_on_rank + fp32 * heads_on_rank * sequence_on_rank, "Kept by unfused fp32 attention, for each token", byte, tex="k_m",
                   source=f"{LAYER}: fp32 with grouped heads has no fused kernel")  # fmt: skip
eager_kept = define(
    4 * compute_width * query_width_on_rank + (fp32 + when(is_word(precision, "fp32"), 0, bf16)) * heads_on_rank * sequence_on_rank,
    "Kept by eager attention, for each token", byte, tex="k_e", source=f"{LAYER}: repeated k and v, softmax in fp32 and its bf16 copy",
)  # fmt: skip
attention_kept = define(
    choose(attention, eager=eager_kept, sdpa=when(all_of(is_word(precision, "fp32"), is_grouped), math_kept, flash_kept)),
    "Kept by attention, for each token", byte, tex="k_a", source=LAYER,
)  # fmt: skip
head_norm_kept = define(
    query_key_norms * (query_width_on_rank + key_value_width_on_rank)
    * choose(method, frozen=0, lora=fp32, p_tuning=fp32, full=choose(precision, bf16=fp32 + bf16, fp16=fp32 + bf16, mixed=fp32 + bf16, fp32=2 * fp32, amp=2 * fp32))
    + query_key_norms * fp32 * (query_width_on_rank + key_value_width_on_rank) / head_dimension,
    "Kept by the norms of q and k, for each token", byte, tex="k_{qk}", source=f"{LAYER}; Qwen3",
)  # fmt: skip
mlp_kept = define(choose(method, frozen=0, full=4 * compute_width, lora=3 * bf16, p_tuning=3 * bf16) * intermediate_size_on_rank,
                  "Kept by the MLP, for each token", byte, tex="k_{mlp}", source=f"{LAYER}: gate, its activation, up; their product where down is trained")  # fmt: skip
cast_inputs_kept = define(when(all_of(is_training_base, is_word(precision, "amp")), 5 * bf16 * hidden_size / norm_split),
                          "Kept by autocast, for each token", byte, tex="k_c", source=f"{LAYER}: a bf16 copy of the input for each of q, k, v, gate and up")  # fmt: skip
adapter_inputs_kept = define(
    choose(method, frozen=0, full=0, p_tuning=0, lora=choose(
        adapter_precision, fp32=fp32 * adapted_inputs,
        bf16=bf16 * hidden_size * (highest(adapter_on_query, adapter_on_key, adapter_on_value) + highest(adapter_on_gate, adapter_on_up))
        + bf16 * adapter_on_down * intermediate_size_on_rank) + adapter_width * lora_rank * adapted_projections),
    "Kept by LoRA, for each token", byte, tex="k_l", source=f"{LORA}: fp32 adapters keep an fp32 copy of each projection's input",
)  # fmt: skip
layer_kept = define(2 * norm_kept + attention_kept + head_norm_kept + mlp_kept + cast_inputs_kept + adapter_inputs_kept,
                    "Kept by one layer, for each token", byte, tex="k", source="sum of the rows above")  # fmt: skip
layer_input = define(residual_width * hidden_size * micro_tokens / norm_split, "Input of one layer", byte, tex="A_1",
                     source=f"{LAYER}: checkpointing keeps it")  # fmt: skip
first_layer_saving = define(
    choose(method, frozen=0, full=0, p_tuning=0, lora=(fp32 * hidden_size + fp32) * micro_tokens), "Not kept by the first layer", byte, tex="A_0",
    source=f"{LORA}: embeddings need no gradient, so the first norm keeps nothing",
)  # fmt: skip
passes_in_flight = define(lowest(pipeline_parallel_size - stage_index, micro_batches), "Micro-batches in flight on the stage", count, tex="n_f",
                          source="Narayanan 2021, 1F1B schedule: stages - index, at most all")  # fmt: skip
kept_layers = define(
    passes_in_flight * choose(checkpointing, full=layers_on_stage * layer_input,
                              none=layers_on_stage * layer_kept * micro_tokens - first_layer_saving),
    "Kept by all layers for backward", byte, tex="A", source=f"{LAYER}; 1F1B",
)  # fmt: skip
below_last_layer = define(kept_layers - choose(checkpointing, full=0, none=layer_kept * micro_tokens), "Kept by the layers below the last", byte, tex="A_b", source=LAYER)
rotary_tables = define(2 * residual_width * sequence_on_rank * head_dimension + int64 * sequence_on_rank, "Rotary tables and positions", byte, tex="A_r", source=LAYER)
attention_mask = define(choose(attention, sdpa=0, eager=compute_width * micro_batch_size * sequence_on_rank**2), "Causal mask of eager attention", byte, tex="A_m",
                        source=f"{LAYER}: held by the checkpointed layers")  # fmt: skip

# --- the highest moments of one layer, beyond what is kept ---

recomputed_mlp_forward = define(
    choose(method, frozen=0, full=3 * compute_width * intermediate_size_on_rank + 2 * residual_width * hidden_size,
           lora=6 * bf16 * intermediate_size_on_rank + 4 * bf16 * hidden_size, p_tuning=3 * bf16 * intermediate_size_on_rank + 2 * bf16 * hidden_size)
    * micro_tokens * choose(checkpointing, none=0, full=1),
    "Forward: the MLP of a checkpointed layer", byte, tex="m_1", source=f"{LAYER}; {LORA}",
)  # fmt: skip
down_projection_forward = define(
    choose(method, frozen=0, full=0, p_tuning=0, lora=(bf16 * intermediate_size_on_rank + 9 * bf16 * hidden_size) * micro_tokens) * choose(checkpointing, none=1, full=0),
    "Forward: the down projection of a kept layer with LoRA", byte, tex="m_2", source=LORA,
)  # fmt: skip
mlp_product_backward = define(
    (layer_kept + choose(method, frozen=0, full=2 * compute_width, lora=bf16 * (3 - 2 * adapter_on_down), p_tuning=3 * bf16) * intermediate_size_on_rank
     + residual_width * hidden_size) * micro_tokens
    + choose(method, frozen=0, lora=0, p_tuning=0, full=residual_width * hidden_size * intermediate_size_on_rank),
    "Backward: the product of gate and up", byte, tex="m_3", source=f"{LAYER}; settled by runs 44 and 46",
)  # fmt: skip
second_norm_backward = define(
    choose(method, frozen=0, lora=0, p_tuning=0,
           full=(layer_kept - 4 * compute_width * intermediate_size_on_rank + choose(precision, bf16=8 * bf16, fp16=8 * bf16, mixed=8 * bf16, fp32=3 * fp32, amp=3 * fp32) * hidden_size
                 + residual_width * hidden_size) * micro_tokens + 3 * residual_width * hidden_size * intermediate_size_on_rank),
    "Backward: the second norm", byte, tex="m_4", source=f"{LAYER}: six fp32 copies of the hidden state; settled by run 48",
)  # fmt: skip
attention_backward = define(
    choose(method, frozen=0, p_tuning=0,
           lora=(norm_kept + head_norm_kept + attention_kept + 3 * bf16 * hidden_size) * micro_tokens,
           full=(norm_kept + head_norm_kept + attention_kept + cast_inputs_kept + residual_width * hidden_size) * micro_tokens
           + residual_width * hidden_size * (3 * intermediate_size_on_rank + query_width_on_rank))
    + choose(method, frozen=0, full=1, lora=1, p_tuning=1) * micro_tokens * choose(
        attention,
        eager=(4 * fp32 * heads_on_rank - (fp32 + when(is_word(precision, "fp32"), 0, bf16)) * heads_on_rank) * sequence_on_rank - compute_width * query_width_on_rank,
        sdpa=fp32 * heads_on_rank + compute_width * (2 * query_width_on_rank + 2 * key_value_width_on_rank + when(is_grouped, 2 * query_width_on_rank)) + fp32 * query_width_on_rank),
    "Backward: attention", byte, tex="m_5", source=f"{LAYER}: eager settled by runs 17 and 18",
)  # fmt: skip
recomputed_up_backward = define(
    choose(checkpointing, none=0, full=choose(method, frozen=0, full=0, p_tuning=0, lora=choose(
        adapter_precision,
        fp32=(layer_kept + fp32 * (intermediate_size_on_rank - lora_rank * adapter_on_down) + 3 * fp32 * hidden_size) * micro_tokens,
        bf16=(layer_kept + bf16 * (intermediate_size_on_rank - lora_rank) + 3 * bf16 * hidden_size) * micro_tokens))),
    "Backward: the up projection of a recomputed layer", byte, tex="m_6", source=f"{LORA}; settled by run 62",
)  # fmt: skip
layer_backward = define(
    highest(mlp_product_backward, second_norm_backward, attention_backward, recomputed_up_backward),
    "Highest moment of one layer's backward", byte, tex="m", source="largest of the rows above",
)  # fmt: skip

fp32_eager_unchecked = require(implies(is_word(attention, "eager"), ~is_word(precision, "amp")),
                               "eager attention under amp is not covered: use sdpa, or bf16 weights", source="no record in measurements/")  # fmt: skip
micro_batch_fits = require(micro_batch_size <= batch_size, "the micro-batch is larger than the batch: lower micro_batch_size", source="definition")
