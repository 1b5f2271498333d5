"""Activations: what forward keeps for backward, layer by layer.

A row "for each token" counts bytes for one token of one micro-batch. torch 2.11 and transformers 5.17; attention is the
fused (flash) kernel unless a row says eager.
"""

from sympy import ceiling

from memsheet.declare import (
    all_of, any_of, byte, caution, choose, count, define, given, highest, implies, is_word, lowest, require, sequences,
    tokens, when,
)

from .model import (
    attention_heads, bf16, fp32, head_dimension, heads_on_rank, hidden_size, int64, intermediate_size_on_rank,
    key_value_heads, key_value_width_on_rank, layers_on_stage, pipeline_parallel_size, query_key_norms,
    query_width_on_rank, stage_index, tensor_parallel_size,
)
from .states import (
    adapted_inputs, adapted_projections, adapter_on_down, adapter_on_gate, adapter_on_key, adapter_on_output,
    adapter_on_query, adapter_on_up, adapter_on_value, adapter_precision, adapter_width, is_amp, is_fp32, is_full,
    is_lora, is_prompt, lora_rank, method, precision, virtual_tokens,
)

LAYER = "transformers 5.17, models/llama/modeling_llama.py; exact in runs 1 to 37 of measurements/h200"
EAGER = "transformers 5.17, eager_attention_forward; exact in runs 15 to 18 of measurements/h200 (bf16)"
AUTOCAST = "torch 2.11, torch/amp/autocast_mode.py; exact in runs 19 and 20 of measurements/h200"
LORA = "peft 0.21, tuners/lora/layer.py; exact in runs 25 to 34 of measurements/h200"
REPLAY = "agrees with a replay of the model's code on the meta device, never the peak of a measured run"
BF16_LORA = "peft 0.21, tuners/lora/layer.py; settled by run 49 of measurements/h200"

# --- what a scenario says of a step ---

batch_size = given(
    "Sequences of one step on a data-parallel rank", sequences, per="scenario", tex="B", limits=(1, 1e6), whole=True,
)
micro_batch_size = given(
    "Sequences in one forward and backward pass", sequences, per="scenario", tex="B_m", limits=(1, 1e6), whole=True,
)
sequence_length = given(
    "Tokens of a sequence, prompt and response", tokens, per="scenario", tex="S", limits=(1, 1e8), whole=True,
)
checkpointing = given(
    "Activation checkpointing", choices=("none", "full"), default="none",
    note="full: each layer keeps its input only and is recomputed",
)
attention = given(
    "Attention implementation", choices=("sdpa", "eager"), default="sdpa",
    note="sdpa: the fused flash kernel in bf16; eager keeps the score matrix",
)
sequence_parallel = given(
    "Sequence parallelism", choices=("no", "yes"), default="no",
    note="Megatron: splits norms and residuals among the tensor-parallel ranks",
)

is_checkpointed = is_word(checkpointing, "full")
is_eager = is_word(attention, "eager")
is_grouped = key_value_heads < attention_heads

micro_batches = define(
    ceiling(batch_size / micro_batch_size),
    "Micro-batches of a step", count, tex="n_b", source="definition",
)
sequence_tokens = define(
    sequence_length + when(is_prompt, virtual_tokens),
    "Tokens of a sequence with virtual tokens", tokens, tex="S_v",
    source="peft 0.21, peft_model.py: virtual tokens stand before the prompt",
)
micro_tokens = define(
    micro_batch_size * sequence_tokens,
    "Tokens of a micro-batch", tokens, tex="T", source="definition",
)
norm_split = define(
    choose(sequence_parallel, no=1, yes=tensor_parallel_size),
    "Ranks that share norms and residuals", count, tex="N_n",
    source="Korthikanti 2022, Reducing Activation Recomputation, section 4",
)

compute_width = define(
    choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=bf16, mixed=bf16),
    "Bytes of a matrix product's result", byte, tex="c", source=f"{AUTOCAST}: matrix products in bf16",
)
residual_width = define(
    choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=fp32, mixed=bf16),
    "Bytes of the residual stream", byte, tex="c_r", source=f"{AUTOCAST}: additions keep fp32",
)
score_width = define(
    choose(precision, bf16=fp32 + bf16, fp16=fp32 + bf16, fp32=fp32, amp=fp32 + bf16, mixed=fp32 + bf16),
    "Bytes of a kept attention score", byte, tex="c_s", source=f"{EAGER}: softmax in fp32 and its bf16 copy",
)
input_copy_width = define(
    choose(adapter_precision, fp32=fp32, bf16=0),
    "Bytes of an adapter's copy of its input", byte, tex="c_a", source=f"{LORA}: fp32 adapters cast their input",
)

# --- kept by one layer, for each token ---

trained_norm_kept = define(
    (choose(precision, bf16=fp32 + 2 * bf16, fp16=fp32 + 2 * bf16, mixed=fp32 + 2 * bf16, fp32=3 * fp32, amp=2 * fp32)
     * hidden_size + fp32) / norm_split,
    "Kept by a trained RMSNorm, for each token", byte, tex="a_{n,t}",
    source=f"{LAYER}: fp32 copy of the input, normalised input, output; inverse root",
)
frozen_norm_kept = define(
    fp32 * hidden_size + fp32,
    "Kept by a frozen RMSNorm, for each token", byte, tex="a_{n,f}",
    source=f"{LORA}: fp32 copy of the input and inverse root",
)
norm_kept = define(
    choose(method, frozen=0, full=trained_norm_kept, lora=frozen_norm_kept, p_tuning=frozen_norm_kept),
    "Kept by one RMSNorm, for each token", byte, tex="a_n", source=LAYER,
)
flash_kept = define(
    compute_width * (2 * query_width_on_rank + 2 * key_value_width_on_rank) + fp32 * heads_on_rank,
    "Kept by fused attention, for each token", byte, tex="a_f",
    source=f"{LAYER}: q, k, v and output, not repeated for grouped heads; log-sum-exp",
)
math_kept = define(
    4 * fp32 * query_width_on_rank + fp32 * heads_on_rank * sequence_tokens,
    "Kept by unfused fp32 attention, for each token", byte, tex="a_m",
    source=f"{LAYER}: fp32 with grouped heads has no fused kernel; settled by run 21",
)
eager_kept = define(
    4 * compute_width * query_width_on_rank + score_width * heads_on_rank * sequence_tokens,
    "Kept by eager attention, for each token", byte, tex="a_e", source=f"{EAGER}: q, repeated k and v, output; softmax",
)
attention_kept = define(
    choose(attention, eager=eager_kept, sdpa=when(all_of(is_fp32, is_grouped), math_kept, flash_kept)),
    "Kept by attention, for each token", byte, tex="a_a", source=LAYER,
)
head_norm_width = define(
    choose(method, frozen=0, lora=fp32, p_tuning=fp32,
           full=choose(precision, bf16=fp32 + bf16, fp16=fp32 + bf16, mixed=fp32 + bf16, fp32=2 * fp32, amp=2 * fp32)),
    "Bytes kept of each value in the norms of q and k", byte, tex="c_h",
    source=f"{LAYER}: fp32 copy; normalised value where the weight is trained; Qwen3: {REPLAY}",
)
head_norm_kept = define(
    query_key_norms * (query_width_on_rank + key_value_width_on_rank) * (head_norm_width + fp32 / head_dimension),
    "Kept by the norms of q and k, for each token", byte, tex="a_h", source=f"{LAYER}: one inverse root a head",
)
mlp_kept = define(
    choose(method, frozen=0, full=4 * compute_width, lora=3 * bf16, p_tuning=3 * bf16) * intermediate_size_on_rank,
    "Kept by the MLP, for each token", byte, tex="a_p",
    source=f"{LAYER}: gate, its activation and up; their product where down is trained",
)
cast_attention_kept = define(
    when(all_of(is_full, is_amp), 3 * bf16 * hidden_size / norm_split),
    "Kept by autocast in attention, for each token", byte, tex="a_{c,a}",
    source=f"{AUTOCAST}: a bf16 copy of the input for each of q, k and v",
)
cast_mlp_kept = define(
    when(all_of(is_full, is_amp), 2 * bf16 * hidden_size / norm_split),
    "Kept by autocast in the MLP, for each token", byte, tex="a_{c,p}",
    source=f"{AUTOCAST}: a bf16 copy of the input for each of gate and up",
)
shared_inputs_kept = define(
    bf16 * hidden_size * highest(adapter_on_query, adapter_on_key, adapter_on_value)
    + bf16 * hidden_size * highest(adapter_on_gate, adapter_on_up)
    + bf16 * intermediate_size_on_rank * adapter_on_down,
    "Inputs kept by bf16 adapters, for each token", byte, tex="a_{l,b}",
    source=f"{BF16_LORA}: one tensor for q, k and v, one for gate and up, the product for down",
)
adapter_kept = define(
    choose(adapter_precision, fp32=fp32 * adapted_inputs, bf16=shared_inputs_kept)
    + adapter_width * lora_rank * adapted_projections,
    "Kept by adapters, for each token", byte, tex="a_{l,a}",
    source=f"{LORA}: fp32 adapters keep an fp32 copy of every projection's input; A's output",
)
lora_kept = define(
    choose(method, frozen=0, full=0, lora=adapter_kept, p_tuning=0),
    "Kept by LoRA, for each token", byte, tex="a_l", source=LORA,
)
layer_kept = define(
    2 * norm_kept + attention_kept + head_norm_kept + mlp_kept + cast_attention_kept + cast_mlp_kept + lora_kept,
    "Kept by one layer, for each token", byte, tex="a", source="sum of the rows above",
)

# --- kept by all layers of a stage ---

layer_activations = define(layer_kept * micro_tokens, "Activations of one layer", byte, tex="A_l", source=LAYER)
layer_input = define(
    residual_width * hidden_size * micro_tokens / norm_split,
    "Input of one layer", byte, tex="A_i", source=f"{LAYER}: checkpointing keeps it",
)
held_by_layer = define(
    choose(checkpointing, full=layer_input, none=layer_activations),
    "Held by one layer from forward to backward", byte, tex="A_h", source=LAYER,
)
unadapted_head_norms = define(
    query_key_norms * fp32
    * ((1 - adapter_on_query) * (query_width_on_rank + heads_on_rank)
       + (1 - adapter_on_key) * key_value_width_on_rank * (1 + 1 / head_dimension)),
    "Norms of q and k without an adapter before them, for each token", byte, tex="a_{h,0}", source=f"{LORA}; {REPLAY}",
)
adapters_on_attention = define(
    highest(adapter_on_query, adapter_on_key, adapter_on_value, adapter_on_output),
    "LoRA on attention", count, tex="x_a", source="1 where any of q, k, v and o has an adapter",
)
first_layer_unkept = define(
    when(adapters_on_attention > 0, frozen_norm_kept + unadapted_head_norms,
         2 * frozen_norm_kept + attention_kept + head_norm_kept),
    "Not kept by the first layer with LoRA, for each token", byte, tex="a_{l,0}",
    source=f"{LORA}: embeddings need no gradient, nor does anything before the first adapter",
)
first_layer_saving = define(
    choose(checkpointing, full=0, none=when(is_lora, first_layer_unkept * micro_tokens)),
    "Not kept by the first layer", byte, tex="A_0", source=LORA,
)
passes_in_flight = define(
    lowest(pipeline_parallel_size - stage_index, micro_batches),
    "Micro-batches in flight on the stage", count, tex="n_f",
    source="Narayanan 2021, section 2.2, 1F1B: stages less index, at most all",
)
kept_by_pass = define(
    layers_on_stage * held_by_layer - first_layer_saving,
    "Kept by all layers for one micro-batch", byte, tex="A_s", source=LAYER,
)
kept_layers = define(
    passes_in_flight * kept_by_pass,
    "Kept by all layers for backward", byte, tex="A", source="sum over the micro-batches in flight",
)
kept_of_own = define(
    choose(checkpointing, full=0, none=layer_activations),
    "Kept by the layer that backward is in", byte, tex="A_o",
    source=f"{LAYER}: a checkpointed layer has been computed again, and counts in the moments below",
)
below_top_layer = define(
    kept_layers - kept_of_own,
    "Kept by the layers below the top one", byte, tex="A_b", source=LAYER,
)
below_bottom_layer = define(
    (passes_in_flight - 1) * kept_by_pass + choose(checkpointing, full=layer_input, none=-first_layer_saving),
    "Kept when backward is in the bottom layer", byte, tex="A_{b,1}",
    source=f"{LAYER}: the other micro-batches; the moments below count a whole layer, of which the first keeps less",
)
rotary_width = define(
    2 * residual_width * head_dimension + int64,
    "Rotary table and position of one token", byte, tex="c_t", source=f"{LAYER}: cosine and sine",
)
rotary_tables = define(
    rotary_width * sequence_tokens,
    "Rotary tables and positions", byte, tex="A_r", source=f"{LAYER}: once for the model",
)
attention_mask = define(
    choose(attention, sdpa=0, eager=compute_width * micro_batch_size * sequence_tokens**2),
    "Causal mask of eager attention", byte, tex="A_m", source=EAGER,
)
stage_message = define(
    when(pipeline_parallel_size > 1, layer_input),
    "Message between two stages", byte, tex="A_p",
    source="Megatron-LM core 0.13, megatron/core/pipeline_parallel: one receive buffer", note="first cut",
)

# --- what is covered ---

eager_under_amp = require(
    implies(is_eager, ~is_amp),
    "eager attention under amp is not covered: use sdpa, or bf16 weights", source="no record in measurements/",
)
micro_batch_fits = require(
    micro_batch_size <= batch_size,
    "the micro-batch is larger than the batch: lower micro_batch_size", source="definition",
)
eager_unchecked = caution(
    all_of(is_eager, any_of(~is_full, is_fp32)),
    "eager attention is compared with measurements in full bf16 fine-tuning only",
    source="runs 15 to 18 of measurements/h200",
)
