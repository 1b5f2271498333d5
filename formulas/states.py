"""Model states: what a rank keeps from step to step: weights, adapters, gradients, optimizer states.

A role is trained in full, by LoRA or by P-Tuning, or is frozen (inference, references, engines). Its states lie whole
on every data-parallel rank (ddp) or are sharded by ZeRO's stages; PyTorch FSDP with FULL_SHARD, and FSDP2, are zero_3.
"""

from sympy import Eq

from memsheet.declare import (
    all_of, any_of, byte, caution, choose, count, define, given, highest, implies, is_word, parameters, ranks, require,
    when,
)

from .model import (
    bf16, data_parallel_size, embedding_on_rank, fp32, has_no_output_matrix, hidden_size, intermediate_size,
    intermediate_size_on_rank, key_value_width, layer_parameters_on_rank, layers_on_stage, output_matrix_on_rank,
    parameters_on_rank, pipeline_parallel_size, query_width, tensor_parallel_size,
)

PEFT = "peft 0.21, tuners/lora/layer.py"
P_TUNING = "peft 0.21, tuners/p_tuning/model.py"
ADAMW = "torch 2.11, torch/optim/adamw.py"
ZERO = "ZeRO (Rajbhandari 2020), sections 5 and 6; torch 2.11, distributed/fsdp"
MEGATRON_OPTIMIZER = "Megatron-LM core 0.13, megatron/core/optimizer"
OFFLOAD = "verl 0.9.1, workers/engine/fsdp"

# --- what a scenario says of a role ---

method = given(
    "Training method", choices=("frozen", "full", "lora", "p_tuning"), note="frozen: inference, references and engines",
)
precision = given(
    "Precision", choices=("bf16", "fp16", "fp32", "amp", "mixed"), default="bf16",
    note="amp: fp32 weights under autocast; mixed: fp32 shards, computed in bf16 (FSDP's MixedPrecisionPolicy)",
)
sharding = given(
    "Sharding of the states", choices=("ddp", "zero_1", "zero_2", "zero_3"), default="ddp",
    note="zero_1 shards the optimizer states, zero_2 the gradients too, zero_3 (FSDP FULL_SHARD) the parameters too",
)
master_weights = given(
    "fp32 master weights and gradients", choices=("no", "yes"), default="no",
    note="yes: Megatron's mixed precision, 18 bytes a parameter with AdamW",
)
optimizer = given("Optimizer", choices=("adamw", "sgd"), default="adamw", note="sgd: without momentum")
foreach = given(
    "Optimizer works on all tensors at once", choices=("yes", "no"), default="yes",
    note="torch's default on a GPU (foreach); it needs one temporary copy of all gradients",
)
parameter_offload = given(
    "Parameters leave the card outside their own phase", choices=("no", "yes"), default="no",
    note="verl: fsdp_config.param_offload",
)
optimizer_offload = given(
    "Optimizer states leave the card outside their own phase", choices=("no", "yes"), default="no",
    note="verl: fsdp_config.optimizer_offload",
)
output_head = given(
    "Output layer that is trained with the model", choices=("language_model", "value"), default="language_model",
    note="value: a critic's head of one number a token; it takes the output matrix's place where method is full",
)

lora_rank = given("LoRA rank", count, tex="r", default=16, limits=(1, 4096), whole=True)
ON_OFF = {"limits": (0, 1), "whole": True, "default": 1}
adapter_on_query = given("LoRA on q_proj", group="lora_targets.q_proj", tex="x_q", **ON_OFF)
adapter_on_key = given("LoRA on k_proj", group="lora_targets.k_proj", tex="x_k", **ON_OFF)
adapter_on_value = given("LoRA on v_proj", group="lora_targets.v_proj", tex="x_v", **ON_OFF)
adapter_on_output = given("LoRA on o_proj", group="lora_targets.o_proj", tex="x_o", **ON_OFF)
adapter_on_gate = given("LoRA on gate_proj", group="lora_targets.gate_proj", tex="x_g", **ON_OFF)
adapter_on_up = given("LoRA on up_proj", group="lora_targets.up_proj", tex="x_u", **ON_OFF)
adapter_on_down = given("LoRA on down_proj", group="lora_targets.down_proj", tex="x_d", **ON_OFF)
adapter_precision = given(
    "Precision of the adapters", choices=("fp32", "bf16"), default="fp32",
    note="peft keeps adapters in fp32 on a bf16 base; under FSDP they compute in bf16",
)
virtual_tokens = given(
    "Virtual tokens", count, tex="n_v", default=20, limits=(1, 4096), whole=True, note="P-Tuning: num_virtual_tokens",
)
prompt_encoder_width = given(
    "Width of the prompt encoder", count, tex="H", default=1024, limits=(1, 65536), whole=True,
    note="P-Tuning: encoder_hidden_size",
)

is_trained = ~is_word(method, "frozen")
is_full = is_word(method, "full")
is_lora = is_word(method, "lora")
is_prompt = is_word(method, "p_tuning")
is_amp = is_word(precision, "amp")
is_fp32 = is_word(precision, "fp32")
is_mixed = is_word(precision, "mixed")
is_sharded = is_word(sharding, "zero_3")
shares_output = all_of(has_no_output_matrix, is_word(output_head, "language_model"))

# --- parameters that a method adds and trains ---

adapted_inputs = define(
    (adapter_on_query + adapter_on_key + adapter_on_value + adapter_on_gate + adapter_on_up) * hidden_size
    + adapter_on_output * query_width + adapter_on_down * intermediate_size,
    "Input widths of one layer's adapted projections, summed", count, tex="w_i", source=PEFT,
)
adapted_outputs = define(
    adapter_on_query * query_width + (adapter_on_key + adapter_on_value) * key_value_width
    + (adapter_on_gate + adapter_on_up) * intermediate_size + (adapter_on_output + adapter_on_down) * hidden_size,
    "Output widths of one layer's adapted projections, summed", count, tex="w_o", source=PEFT,
)
adapted_projections = define(
    adapter_on_query + adapter_on_key + adapter_on_value + adapter_on_output
    + adapter_on_gate + adapter_on_up + adapter_on_down,
    "Adapted projections of one layer", count, tex="n_a", source=PEFT,
)
layer_lora_parameters = define(
    lora_rank * (adapted_inputs + adapted_outputs),
    "LoRA parameters of one layer", parameters, tex="P_{l,a}", source=f"{PEFT}: A is rank x in, B is out x rank",
)
lora_parameters = define(
    layers_on_stage * layer_lora_parameters,
    "Parameters of a LoRA adapter", parameters, tex="P_{lora}", source=PEFT,
)
prompt_embedding_parameters = define(
    virtual_tokens * hidden_size,
    "Embeddings of the virtual tokens", parameters, tex="P_v", source=P_TUNING,
)
prompt_encoder_parameters = define(
    (hidden_size + 1) * prompt_encoder_width + (prompt_encoder_width + 1) * prompt_encoder_width
    + (prompt_encoder_width + 1) * hidden_size,
    "Parameters of a P-Tuning prompt encoder", parameters, tex="P_{v,e}",
    source=f"{P_TUNING}: MLP, h x H, H x H, H x h with biases; absent in inference_mode",
)
prompt_parameters = define(
    prompt_embedding_parameters + prompt_encoder_parameters,
    "Parameters of P-Tuning", parameters, tex="P_{pt}", source=P_TUNING,
)
value_head_parameters = define(
    choose(output_head, language_model=0, value=hidden_size + when(is_full, 1)),
    "Parameters of a value head", parameters, tex="P_c",
    source="measurements/h200/measure.py: without bias; verl 0.9.1, token classification model: with bias",
)
adapter_parameters = define(
    choose(method, frozen=0, full=0, lora=lora_parameters, p_tuning=prompt_parameters) + value_head_parameters,
    "Parameters added to the base model", parameters, tex="P_{a,v}", source="sum of the rows above",
)
replaced_parameters = define(
    when(all_of(is_full, is_word(output_head, "value")), output_matrix_on_rank),
    "Output matrix that a critic of its own does without", parameters, tex="P_{o,c}",
    source="verl 0.9.1, token classification model: the value head takes the place of the output matrix",
)
base_parameters = define(
    parameters_on_rank - replaced_parameters,
    "Parameters of the base model on one rank", parameters, tex="P", source="definition",
)
trained_parameters = define(
    adapter_parameters + choose(method, frozen=0, full=base_parameters, lora=0, p_tuning=0),
    "Trained parameters on one rank, before sharding", parameters, tex="P_t", source="definition of the method",
)
largest_tensor = define(
    highest(embedding_on_rank, output_matrix_on_rank, hidden_size * intermediate_size_on_rank),
    "Parameters of the largest tensor on one rank", parameters, tex="P_m", source="definition",
)

trained_layer_parameters = define(
    choose(method, frozen=0, full=layer_parameters_on_rank, lora=layer_lora_parameters, p_tuning=0),
    "Trained parameters of one layer on one rank", parameters, tex="P_{l,t}", source="definition of the method",
)

# --- bytes of each state ---

weight_width = define(
    choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=fp32, mixed=fp32),
    "Bytes of a stored weight", byte, tex="e", source="torch 2.11, torch/amp/autocast_mode.py: autocast stores fp32",
)
adapter_width = define(
    choose(adapter_precision, fp32=fp32, bf16=bf16),
    "Bytes of an adapter's weight in use", byte, tex="e_a", source=f"{PEFT}: autocast_adapter_dtype",
)
stored_adapter_width = define(
    when(is_mixed, fp32, adapter_width),
    "Bytes of an adapter's stored weight", byte, tex="e_{a,0}",
    source=f"{PEFT}; verl 0.9.1: cast to the base's type before FSDP wraps them",
)
trained_width = define(
    choose(method, frozen=weight_width, full=weight_width, lora=stored_adapter_width, p_tuning=stored_adapter_width),
    "Bytes of a trained weight", byte, tex="e_t", source=f"{PEFT}; torch 2.11",
)
gradient_width = define(
    choose(master_weights, no=trained_width, yes=fp32),
    "Bytes of a kept gradient", byte, tex="e_g",
    source=f"torch 2.11: its parameter's type; {MEGATRON_OPTIMIZER}: main_grad is fp32",
)
fresh_gradient_width = define(
    choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=fp32, mixed=bf16),
    "Bytes of a gradient as backward makes it", byte, tex="e_f",
    source="torch 2.11: its parameter's type, of FSDP the gathered parameter's",
)
state_width = define(
    choose(master_weights, no=trained_width, yes=fp32),
    "Bytes of one optimizer moment", byte, tex="e_s",
    source=f"{ADAMW}: zeros_like(parameter); {MEGATRON_OPTIMIZER}: of the fp32 master",
)
master_width = define(
    choose(master_weights, no=0, yes=fp32),
    "Bytes of a master weight", byte, tex="e_m", source=MEGATRON_OPTIMIZER,
)
moments_per_parameter = define(
    choose(optimizer, adamw=2, sgd=0),
    "Optimizer moments of a parameter", count, tex="n_m",
    source=f"{ADAMW}: exp_avg and exp_avg_sq; torch/optim/sgd.py without momentum",
)

# --- states on one rank ---

weight_shards = define(
    choose(sharding, ddp=1, zero_1=1, zero_2=1, zero_3=data_parallel_size),
    "Ranks that share the weights", ranks, tex="F_w", source=ZERO,
)
gradient_shards = define(
    choose(sharding, ddp=1, zero_1=1, zero_2=data_parallel_size, zero_3=data_parallel_size),
    "Ranks that share the gradients", ranks, tex="F_g", source=ZERO,
)
optimizer_shards = define(
    choose(sharding, ddp=1, zero_1=data_parallel_size, zero_2=data_parallel_size, zero_3=data_parallel_size),
    "Ranks that share the optimizer states", ranks, tex="F_o", source=ZERO,
)
weights = define(weight_width * base_parameters / weight_shards, "Weights", byte, tex="M_w", source=ZERO)
adapters = define(
    stored_adapter_width * adapter_parameters / weight_shards,
    "Adapters", byte, tex="M_a", source=f"{PEFT}; {ZERO}",
)
gradients = define(gradient_width * trained_parameters / gradient_shards, "Gradients", byte, tex="M_g", source=ZERO)
optimizer_states = define(
    (moments_per_parameter * state_width + master_width) * trained_parameters / optimizer_shards,
    "Optimizer states", byte, tex="M_o", source=f"{ADAMW}; {ZERO}",
)
layer_gradients = define(
    gradient_width * trained_layer_parameters / gradient_shards,
    "Gradients of one layer", byte, tex="M_{g,l}", source=ZERO,
)
adapters_in_inference = define(
    choose(method, frozen=adapters, full=adapters, lora=adapters,
           p_tuning=stored_adapter_width * (prompt_embedding_parameters + value_head_parameters) / weight_shards),
    "Adapters that are kept without training", byte, tex="M_{a,i}", source=f"{P_TUNING}: no encoder in inference_mode",
)
weights_at_rest = define(
    choose(parameter_offload, no=weights, yes=0),
    "Weights outside the role's own phase", byte, tex="M_{w,0}", source=f"{OFFLOAD}: param_offload",
)
adapters_at_rest = define(
    choose(parameter_offload, no=adapters, yes=0),
    "Adapters outside the role's own phase", byte, tex="M_{a,0}", source=f"{OFFLOAD}: param_offload",
)
optimizer_states_at_rest = define(
    choose(optimizer_offload, no=optimizer_states, yes=0),
    "Optimizer states outside the role's own phase", byte, tex="M_{o,0}", source=f"{OFFLOAD}: optimizer_offload",
)

# --- the optimizer's step ---

temporary_of_all = define(
    state_width * trained_parameters / optimizer_shards,
    "Temporary of a step over all tensors at once", byte, tex="M_{o,1}",
    source=f"{ADAMW}, _multi_tensor_adamw: square roots of all second moments",
)
temporary_of_one = define(
    choose(method, frozen=0, lora=0, p_tuning=0, full=2 * state_width * largest_tensor / optimizer_shards),
    "Temporaries of a step over one tensor at a time", byte, tex="M_{o,2}",
    source=f"{ADAMW}, _single_tensor_adamw: two copies of the largest tensor",
    note="first cut for adapters, whose tensors are not worth counting",
)
optimizer_temporary = define(
    choose(optimizer, sgd=0, adamw=choose(foreach, yes=temporary_of_all, no=temporary_of_one)),
    "Temporaries of torch's optimizer", byte, tex="M_{o,3}", source=ADAMW,
)
optimizer_transient = define(
    choose(master_weights, no=optimizer_temporary, yes=0),
    "Temporary of an optimizer step", byte, tex="M_{o,t}",
    source=f"{ADAMW}; {MEGATRON_OPTIMIZER}: its fused Adam makes none",
)

# --- what is covered ---

adapters_over_half = require(
    implies(is_lora, is_word(precision, "bf16", "fp16", "mixed")),
    "LoRA is covered over a bf16, fp16 or mixed base only: set precision to bf16",
    source="no accounting of peft over fp32 or autocast yet",
)
prompts_over_half = require(
    implies(is_prompt, all_of(is_word(precision, "bf16", "fp16"), ~is_sharded)),
    "P-Tuning is covered over an unsharded bf16 or fp16 base only: set precision to bf16 and sharding to ddp",
    source="no accounting of peft over fp32, autocast or FSDP yet",
)
adapters_on_one_rank = require(
    implies(any_of(is_lora, is_prompt), all_of(Eq(tensor_parallel_size, 1), Eq(pipeline_parallel_size, 1))),
    "LoRA and P-Tuning are covered without tensor or pipeline parallelism only: set both sizes to 1",
    source="no accounting of split adapters yet",
)
sharded_adapters_in_bf16 = require(
    implies(all_of(is_lora, is_sharded), is_word(adapter_precision, "bf16")),
    "FSDP computes adapters in the base's type: set adapter_precision to bf16",
    source="torch 2.11, distributed/fsdp: the parameters of one group have one type",
)
master_over_bf16 = require(
    implies(is_word(master_weights, "yes"), all_of(is_word(precision, "bf16"), is_word(method, "frozen", "full"))),
    "fp32 master weights are covered for full fine-tuning in bf16 only: set method to full, precision to bf16",
    source=f"{MEGATRON_OPTIMIZER}: fp16 keeps another copy of the gradients",
)
mixed_needs_shards = require(
    implies(is_mixed, is_sharded),
    "mixed precision is FSDP's: set sharding to zero_3, or precision to amp",
    source="torch 2.11, distributed/fsdp, MixedPrecisionPolicy",
)
shards_need_mixed = require(
    implies(is_sharded, is_word(precision, "bf16", "fp16", "mixed")),
    "zero_3 is covered with bf16, fp16 or mixed precision only: set precision to mixed",
    source="no record in measurements/",
)
zero_unchecked = caution(
    all_of(is_word(sharding, "zero_1", "zero_2"), data_parallel_size > 1),
    "ZeRO stages 1 and 2 are a first cut, without their buckets and not yet compared with a measurement",
    source="no record in measurements/",
)
prompts_unchecked = caution(
    is_prompt,
    "the activations of P-Tuning are derived from LoRA's and not yet compared with a measurement",
    source="no record in measurements/",
)
