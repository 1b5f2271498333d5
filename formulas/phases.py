"""Phases of training: the highest moment of forward, of backward and of an update, beside what is resident."""

from memsheet.declare import all_of, any_of, byte, choose, define, given, highest, is_word, when

from .activations import (
    REPLAY, attention_mask, below_bottom_layer, below_top_layer, checkpointing, held_by_layer, kept_layers, layer_input,
    micro_batches, micro_tokens, rotary_tables, stage_message,
)
from .communication import (
    gathered_at_loss, gathered_in_backward, gathered_in_forward, gathered_layer, gathered_root, is_gathered,
    reduced_layer, reduced_root,
)
from .logits import (
    cast_layers, cast_output, final_norm_kept, held_hidden_state, labels_in_loss, labels_kept, logits_width,
    loss_backward, loss_forward,
)
from .model import bf16, embedding_on_rank, fp32, has_no_output_matrix, hidden_size, is_last_stage, layers_on_stage
from .moments import layer_backward, layer_forward
from .states import (
    adapters_in_inference, fresh_gradient_width, gradients, is_amp, is_full, is_sharded, largest_tensor,
    layer_gradients, master_weights, optimizer_states, optimizer_transient, shares_output, weight_width,
)

MOMENTS = "highest moments of measurements/h200: the loss in 91 of 95 forward phases and in 65 of 95 backward phases"
FSDP_RUNS = "torch 2.11, distributed/fsdp/_fully_shard; settled by runs 44 to 49 of measurements/h200"
AUTOGRAD = "torch 2.11, torch/csrc/autograd/functions/accumulate_grad.h"

# --- gradients that are there while backward runs ---

accumulates = any_of(micro_batches > 1, is_word(master_weights, "yes"))
accumulated_gradients = define(
    when(accumulates, gradients),
    "Gradients of earlier micro-batches", byte, tex="G",
    source=f"{AUTOGRAD}: they stay until zero_grad; Megatron-LM core 0.13: its fp32 buffer always stays",
)
output_gradient = define(
    when(is_full, fresh_gradient_width * hidden_size * logits_width),
    "Gradient of the output matrix", byte, tex="G_o", source=f"{AUTOGRAD}: the first that backward makes",
)
held_output_gradient = define(
    when(all_of(accumulates, ~is_gathered, ~shares_output), 0, output_gradient),
    "Gradient of the output matrix while the layers follow", byte, tex="G_h",
    source=f"{AUTOGRAD}: added to an earlier one at once, but for a tied matrix and for FSDP's root group",
)
gradients_at_second = define(
    highest(accumulated_gradients, layer_gradients),
    "Gradients below the top layer", byte, tex="G_2", source=AUTOGRAD,
)
gradients_above_bottom = define(
    highest(accumulated_gradients, (layers_on_stage - 2) * layer_gradients),
    "Gradients two layers above the bottom", byte, tex="G_{b,2}", source=AUTOGRAD,
)
gradients_at_bottom = define(
    highest(accumulated_gradients, (layers_on_stage - 1) * layer_gradients),
    "Gradients above the bottom layer", byte, tex="G_{b,1}", source=AUTOGRAD,
)

# --- forward ---

kept_beside_layers = define(
    rotary_tables + stage_message + choose(checkpointing, none=0, full=attention_mask),
    "Kept beside the layers to the end of backward", byte, tex="A_t", source=MOMENTS,
)
forward_at_loss = define(
    kept_layers + kept_beside_layers + final_norm_kept + held_hidden_state + cast_layers + cast_output + loss_forward
    + labels_in_loss + gathered_at_loss,
    "Forward, at the loss", byte, tex="W_{f,1}", source=MOMENTS,
)
final_norm_forward = define(
    when(is_last_stage, (bf16 * hidden_size * choose(checkpointing, none=8, full=7) + 2 * fp32) * micro_tokens),
    "Forward through the final norm", byte, tex="m_{n,f}", source=f"{MOMENTS}; {REPLAY}",
)
forward_at_final_norm = define(
    kept_layers + kept_beside_layers + cast_layers + gathered_at_loss + final_norm_forward,
    "Forward, at the final norm", byte, tex="W_{f,2}", source=MOMENTS,
)
forward_at_gather = define(
    when(is_gathered, gathered_in_forward + below_top_layer + kept_beside_layers
         + choose(checkpointing, full=0, none=2 * layer_input)),
    "Forward, when the last layer is gathered", byte, tex="W_{f,3}", source=FSDP_RUNS,
)
forward_in_last_layer = define(
    kept_layers + rotary_tables + stage_message + attention_mask + cast_layers + gathered_at_loss + layer_forward,
    "Forward, in the last layer", byte, tex="W_{f,4}", source=f"{MOMENTS}; {REPLAY}",
)
forward_transient = define(
    highest(forward_at_loss, forward_at_final_norm, forward_at_gather, forward_in_last_layer),
    "Forward: activations, logits and loss", byte, tex="W_f", source="largest of the rows above",
)

# --- backward ---

kept_cast_layers = define(
    choose(checkpointing, none=cast_layers, full=0),
    "bf16 copies of the weights kept by the layers", byte, tex="A_{w,k}",
    source="torch 2.11: a kept layer holds its cast weights to its backward, a checkpointed layer casts them again",
)
backward_at_loss = define(
    accumulated_gradients + kept_layers + kept_beside_layers + final_norm_kept + kept_cast_layers + cast_output
    + loss_backward + labels_kept + gathered_at_loss,
    "Backward, at the loss", byte, tex="W_{b,1}", source=MOMENTS,
)
final_norm_backward = define(
    when(is_last_stage, (6 * fp32 * hidden_size + fp32) * micro_tokens),
    "Backward through the final norm", byte, tex="m_{n,b}", source=f"{MOMENTS}; settled by run 63",
)
backward_at_final_norm = define(
    accumulated_gradients + output_gradient + kept_layers + kept_beside_layers + gathered_at_loss + final_norm_backward,
    "Backward, at the final norm", byte, tex="W_{b,2}", source=MOMENTS,
)
beside_top_layer = define(
    accumulated_gradients + below_top_layer + kept_cast_layers + gathered_in_backward,
    "Beside the top layer in backward", byte, tex="W_{l,1}", source=MOMENTS,
)
beside_second_layer = define(
    gradients_at_second + below_top_layer - held_by_layer + gathered_in_backward + reduced_layer,
    "Beside the second layer in backward", byte, tex="W_{l,2}",
    source=f"{FSDP_RUNS}: the first layer's reduction is in flight",
)
beside_layer_above_bottom = define(
    gradients_above_bottom + below_bottom_layer + held_by_layer + gathered_in_backward + reduced_layer,
    "Beside the layer above the bottom in backward", byte, tex="W_{l,3}", source=FSDP_RUNS,
)
beside_bottom_layer = define(
    gradients_at_bottom + below_bottom_layer + gathered_root + gathered_layer + reduced_layer,
    "Beside the bottom layer in backward", byte, tex="W_{l,4}", source=f"{FSDP_RUNS}: no layer is left to prefetch",
)
backward_in_layers = define(
    held_output_gradient + kept_beside_layers + layer_backward
    + highest(beside_top_layer, beside_second_layer, beside_layer_above_bottom, beside_bottom_layer),
    "Backward, in the layers", byte, tex="W_{b,3}", source=MOMENTS,
)
tied_embedding_backward = define(
    weight_width * embedding_on_rank + highest(layer_input, when(is_amp, 0, weight_width * embedding_on_rank)),
    "Backward through a tied embedding", byte, tex="m_{e,t}",
    source=f"{MOMENTS}: the output's gradient, the embedding's, and their sum; under amp summed in place (run 20)",
)
embedding_backward = define(
    when(is_full, when(is_gathered, reduced_root + reduced_layer,
                       when(shares_output, tied_embedding_backward, layer_input)
                       + when(accumulates, weight_width * embedding_on_rank))),
    "Backward through the embedding", byte, tex="m_{e,b}", source=f"{MOMENTS}; sharded: {FSDP_RUNS}",
)
backward_at_embedding = define(
    gradients + embedding_backward,
    "Backward, at the embedding", byte, tex="W_{b,4}", source=f"{MOMENTS}: the embedding in 18 of 95 backward phases",
)
backward_transient = define(
    highest(backward_at_loss, backward_at_final_norm, backward_in_layers, backward_at_embedding),
    "Backward: activations, loss and gradients", byte, tex="W_b", source="largest of the rows above",
)

# --- one update ---

step_transient = define(
    gradients + optimizer_transient,
    "Optimizer step: gradients and temporaries", byte, tex="W_s", source="torch 2.11, torch/optim/adamw.py",
)
passes_transient = define(
    highest(accumulated_gradients + forward_transient, backward_transient),
    "Forward and backward of an update", byte, tex="W_p", source="larger of the two",
)
update_transient = define(
    highest(passes_transient, step_transient),
    "Update, optimizer states in place", byte, tex="W_u", source="larger of passes and step",
)
first_update_transient = define(
    highest(passes_transient, step_transient + optimizer_states),
    "First update", byte, tex="W_{u,1}", source="the same, but the optimizer states appear in the step only",
)

# --- loading, and sending weights to an engine ---

tied_output_transient = define(
    when(all_of(has_no_output_matrix, ~is_sharded), weight_width * embedding_on_rank),
    "Output matrix made before it is tied", byte, tex="W_t",
    source="transformers 5.17, from_config: lm_head is made, then tied; exact in runs 1 to 28 of measurements/h200",
)
loading_transient = define(
    highest(0, tied_output_transient - adapters_in_inference),
    "The same, beyond the adapters that come later", byte, tex="W_{t,a}",
    source="peft 0.21: adapters are added after the output matrix is tied",
)
sync_bucket = given(
    "Bucket of the weight sync", byte, tex="S_b", default=2147483648,
    source="verl 0.9.1: update_weights_bucket_megabytes 2048",
)
sync_transient = define(
    sync_bucket + weight_width * largest_tensor,
    "Weight sync to the engine", byte, tex="W_y",
    source="verl 0.9.1, FSDP2: the bucket and the largest tensor, gathered; not measured",
    note="first cut: LoRA and FSDP1 send in other ways",
)
