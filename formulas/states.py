"""Model states: what a rank keeps from step to step: weights, adapters, gradients, optimizer states.

Methods: full fine-tuning, LoRA, P-Tuning, or frozen (inference, references). Sharding: none (DDP), ZeRO stages 1 to 3;
PyTorch FSDP with FULL_SHARD and FSDP2 are zero_3.
"""

from sympy import Eq

from memsheet.declare import (
    all_of,
    any_of,
    byte,
    choose,
    count,
    define,
    given,
    implies,
    is_word,
    parameters,
    ranks,
    require,
)

from .model import (
    bf16,
    data_parallel_size,
    embedding_on_rank,
    fp32,
    hidden_size,
    intermediate_size,
    key_value_width,
    layers_on_stage,
    parameters_on_rank,
    pipeline_parallel_size,
    query_width,
    tensor_parallel_size,
)  # fmt: skip

PEFT = "peft 0.21, tuners/lora/layer.py"
ADAMW = "torch 2.11, torch/optim/adamw.py"
ZERO = "ZeRO (Rajbhandari 2020), sections 5 and 6; torch 2.11, distributed/fsdp"

method = given("Training method", choices=("frozen", "full", "lora", "p_tuning"), note="frozen: inference, references and engines")
precision = given("Precision", choices=("bf16", "fp16", "fp32", "amp", "mixed"), default="bf16",
                  note="amp: fp32 weights under autocast; mixed: fp32 shards, gathered and computed in bf16 (FSDP MixedPrecisionPolicy)")  # fmt: skip
sharding = given("Sharding of the states", choices=("ddp", "zero_1", "zero_2", "zero_3"), default="ddp",
                 note="zero_1 shards the optimizer states, zero_2 the gradients too, zero_3 (FSDP FULL_SHARD) the parameters too")  # fmt: skip
master_weights = given("fp32 master weights and gradients", choices=("no", "yes"), default="no", note="Megatron mixed precision: yes")
optimizer = given("Optimizer", choices=("adamw", "sgd"), default="adamw")
foreach = given("Optimizer works on all tensors at once", choices=("yes", "no"), default="yes",
                note="torch's default on a GPU (foreach); it needs one temporary copy of all gradients")  # fmt: skip
parameter_offload = given("Parameters leave the card outside their own phase", choices=("no", "yes"), default="no", note="verl: fsdp_config.param_offload")
optimizer_offload = given("Optimizer states leave the card outside their own phase", choices=("no", "yes"), default="no", note="verl: fsdp_config.optimizer_offload")
output_head = given("Output layer that is trained with the model", choices=("language_model", "value"), default="language_model",
                    note="value: a critic's head of one number a token")  # fmt: skip

lora_rank = given("LoRA rank", count, tex="r", default=16, limits=(1, 4096), whole=True)
ON_OFF = {"limits": (0, 1), "whole": True, "default": 1}
adapter_on_query = given("LoRA on q_proj", group="lora_targets.q_proj", tex="a_q", **ON_OFF)
adapter_on_key = given("LoRA on k_proj", group="lora_targets.k_proj", tex="a_k", **ON_OFF)
adapter_on_value = given("LoRA on v_proj", group="lora_targets.v_proj", tex="a_v", **ON_OFF)
adapter_on_output = given("LoRA on o_proj", group="lora_targets.o_proj", tex="a_o", **ON_OFF)
adapter_on_gate = given("LoRA on gate_proj", group="lora_targets.gate_proj", tex="a_g", **ON_OFF)
adapter_on_up = given("LoRA on up_proj", group="lora_targets.up_proj", tex="a_u", **ON_OFF)
adapter_on_down = given("LoRA on down_proj", group="lora_targets.down_proj", tex="a_d", **ON_OFF)
adapter_precision = given("Precision of the adapters", choices=("fp32", "bf16"), default="fp32",
                          note="peft keeps adapters in fp32 on a bf16 base; FSDP needs the base's type")  # fmt: skip
virtual_tokens = given("Virtual tokens", count, tex="n_v", default=20, limits=(1, 4096), whole=True, note="P-Tuning: num_virtual_tokens")
prompt_encoder_width = given("Width of the prompt encoder", count, tex="H", default=1024, limits=(1, 65536), whole=True,
                             note="P-Tuning: encoder_hidden_size")  # fmt: skip

weight_width = define(choose(precision, bf16=bf16, fp16=bf16, fp32=fp32, amp=fp32, mixed=fp32), "Bytes of a stored weight", byte, tex="e",
                      source="torch 2.11: parameters keep the type they were made in; autocast stores fp32")  # fmt: skip
adapter_width = define(choose(adapter_precision, fp32=fp32, bf16=bf16), "Bytes of an adapter's weight", byte, tex="e_a", source=PEFT)
adapted_inputs = define(
    (adapter_on_query + adapter_on_key + adapter_on_value + adapter_on_gate + adapter_on_up) * hidden_size
    + adapter_on_output * query_width + adapter_on_down * intermediate_size,
    "Input widths of one layer's adapted projections, summed", count, tex="w_{in}", source=PEFT,
)  # fmt: skip
adapted_outputs = define(
    adapter_on_query * query_width + (adapter_on_key + adapter_on_value) * key_value_width
    + (adapter_on_gate + adapter_on_up) * intermediate_size + (adapter_on_output + adapter_on_down) * hidden_size,
    "Output widths of one layer's adapted projections, summed", count, tex="w_{out}", source=PEFT,
)  # fmt: skip
adapted_projections = define(
    adapter_on_query + adapter_on_key + adapter_on_value + adapter_on_output + adapter_on_gate + adapter_on_up + adapter_on_down,
    "Adapted projections of one layer", count, tex="n_a", source="definition",
)  # fmt: skip
lora_parameters = define(layers_on_stage * lora_rank * (adapted_inputs + adapted_outputs), "Parameters of a LoRA adapter", parameters, tex="P_{lora}",
                         source=f"{PEFT}: A is rank x in, B is out x rank")  # fmt: skip
prompt_parameters = define(
    virtual_tokens * hidden_size + (hidden_size + 1) * prompt_encoder_width + (prompt_encoder_width + 1) * prompt_encoder_width
    + (prompt_encoder_width + 1) * hidden_size,
    "Parameters of a P-Tuning prompt encoder", parameters, tex="P_{pt}",
    source="peft 0.21, tuners/p_tuning/model.py (MLP): embedding, h x H, H x H, H x h with biases",
)  # fmt: skip
value_head_parameters = define(choose(output_head, language_model=0, value=hidden_size), "Parameters of a value head", parameters, tex="P_v",
                               source="a linear layer from hidden size to one")  # fmt: skip
adapter_parameters = define(choose(method, frozen=0, full=0, lora=lora_parameters, p_tuning=prompt_parameters) + value_head_parameters,
                            "Parameters added to the base model", parameters, tex="P_a", source="sum of the rows above")  # fmt: skip
trained_parameters = define(adapter_parameters + choose(method, frozen=0, full=parameters_on_rank, lora=0, p_tuning=0),
                            "Trained parameters on one rank, before sharding", parameters, tex="P_t", source="definition of the method")  # fmt: skip
trained_width = define(choose(method, frozen=weight_width, full=weight_width, lora=adapter_width, p_tuning=adapter_width),
                       "Bytes of a trained weight", byte, tex="e_t", source=PEFT)  # fmt: skip

weight_shards = define(choose(sharding, ddp=1, zero_1=1, zero_2=1, zero_3=data_parallel_size), "Ranks that share the weights", ranks, tex="F_w", source=ZERO)
gradient_shards = define(choose(sharding, ddp=1, zero_1=1, zero_2=data_parallel_size, zero_3=data_parallel_size),
                         "Ranks that share the gradients", ranks, tex="F_g", source=ZERO)  # fmt: skip
optimizer_shards = define(choose(sharding, ddp=1, zero_1=data_parallel_size, zero_2=data_parallel_size, zero_3=data_parallel_size),
                          "Ranks that share the optimizer states", ranks, tex="F_o", source=ZERO)  # fmt: skip
gradient_width = define(choose(master_weights, no=trained_width, yes=fp32), "Bytes of a kept gradient", byte, tex="e_g",
                        source="torch 2.11: a gradient has its parameter's type; Megatron-LM: main_grad is fp32")  # fmt: skip
state_width = define(choose(master_weights, no=trained_width, yes=fp32), "Bytes of one optimizer moment", byte, tex="e_s",
                     source=f"{ADAMW}: zeros_like(parameter); Megatron-LM: states of the fp32 master")  # fmt: skip

weights = define(weight_width * parameters_on_rank / weight_shards, "Weights", byte, tex="M_w", source=ZERO)
adapters = define(adapter_width * adapter_parameters / weight_shards, "Adapters", byte, tex="M_a", source=f"{PEFT}; {ZERO}")
gradients = define(gradient_width * trained_parameters / gradient_shards, "Gradients", byte, tex="M_g", source=ZERO)
moments_per_parameter = define(choose(optimizer, adamw=2, sgd=0), "Optimizer moments of a parameter", count, tex="n_m", source=ADAMW)
optimizer_states = define(
    (moments_per_parameter * state_width + choose(master_weights, no=0, yes=fp32)) * trained_parameters / optimizer_shards,
    "Optimizer states", byte, tex="M_o", source=f"{ADAMW}; {ZERO}",
)  # fmt: skip
optimizer_transient = define(
    choose(optimizer, sgd=0, adamw=choose(foreach, yes=state_width * trained_parameters / optimizer_shards,
                                          no=2 * state_width * choose(method, frozen=0, full=embedding_on_rank / optimizer_shards, lora=0, p_tuning=0))),
    "Temporary of an optimizer step", byte, tex="M_{o,t}", source=f"{ADAMW}: _multi_tensor_adamw takes the square roots of all second moments at once",
)  # fmt: skip
weights_at_rest = define(choose(parameter_offload, no=weights, yes=0), "Weights outside the role's own phase", byte, tex="M_{w,0}",
                         source="verl 0.9.1, workers/engine/fsdp: param_offload")  # fmt: skip
adapters_at_rest = define(choose(parameter_offload, no=adapters, yes=0), "Adapters outside the role's own phase", byte, tex="M_{a,0}",
                          source="verl 0.9.1, workers/engine/fsdp: param_offload")  # fmt: skip
optimizer_states_at_rest = define(choose(optimizer_offload, no=optimizer_states, yes=0), "Optimizer states outside the role's own phase", byte, tex="M_{o,0}",
                                  source="verl 0.9.1, workers/engine/fsdp: optimizer_offload")  # fmt: skip

adapters_over_bf16 = require(implies(is_word(method, "lora", "p_tuning"), is_word(precision, "bf16", "fp16")),
                             "LoRA and P-Tuning are covered over a bf16 or fp16 base only: set precision to bf16", source="no accounting of peft over fp32 or autocast yet")  # fmt: skip
adapters_on_one_rank = require(implies(is_word(method, "lora", "p_tuning"), all_of(Eq(tensor_parallel_size, 1), Eq(pipeline_parallel_size, 1))),
                               "LoRA and P-Tuning are covered without tensor or pipeline parallelism only: set both sizes to 1", source="no accounting of split adapters yet")  # fmt: skip
master_over_half = require(implies(is_word(master_weights, "yes"), is_word(precision, "bf16", "fp16")),
                           "fp32 master weights go with bf16 or fp16 weights: set precision to bf16", source="Megatron-LM, core/optimizer")  # fmt: skip
shards_need_training = require(any_of(~is_word(method, "frozen"), is_word(optimizer_offload, "no")),
                               "a frozen role has no optimizer states to offload: set optimizer_offload to no", source="definition")  # fmt: skip
mixed_needs_shards = require(implies(is_word(precision, "mixed"), is_word(sharding, "zero_3")),
                             "mixed precision is FSDP's: set sharding to zero_3, or precision to amp", source="torch 2.11, distributed/fsdp MixedPrecisionPolicy")  # fmt: skip
shards_need_mixed = require(implies(is_word(sharding, "zero_3"), is_word(precision, "bf16", "fp16", "mixed")),
                            "zero_3 is covered with bf16, fp16 or mixed precision: autocast and fp32 gathering are not", source="no record in measurements/")  # fmt: skip
