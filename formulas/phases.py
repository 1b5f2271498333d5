"""Phases of training: the highest moment of forward, of backward and of an update, beside what is resident."""

from sympy import Eq

from memsheet.declare import byte, choose, define, given, highest, is_word, when

from .activations import (
    attention_mask,
    below_last_layer,
    checkpointing,
    down_projection_forward,
    kept_layers,
    layer_backward,
    layer_input,
    micro_batches,
    micro_tokens,
    recomputed_mlp_forward,
    rotary_tables,
)  # fmt: skip
from .communication import (
    gathered_at_loss,
    gathered_in_backward,
    gathered_in_forward,
    is_gathered,
    reduced_layer,
    reduced_root,
)
from .logits import cast_output, cast_weights, final_norm_kept, held_hidden_state, labels, loss_backward, loss_forward
from .model import (
    bf16,
    embedding_on_rank,
    fp32,
    hidden_size,
    layer_parameters_on_rank,
    output_on_rank,
    tied_embeddings,
    vocabulary_on_rank,
)
from .states import adapters, gradient_shards, gradient_width, gradients, method, optimizer_states, optimizer_transient, precision, weight_width

MOMENTS = "facts checked on measurements/h200: the loss is the peak in 91 of 95 forward phases, in 65 of 95 backward phases"

accumulated_gradients = define(when(micro_batches > 1, gradients, 0), "Gradients of earlier micro-batches", byte, tex="M_{g,0}",
                               source="torch 2.11: gradients stay until zero_grad")  # fmt: skip
kept_tables = define(rotary_tables + choose(checkpointing, none=0, full=attention_mask), "Tables kept to the end of backward", byte, tex="A_t", source=MOMENTS)

forward_at_loss = define(kept_layers + kept_tables + final_norm_kept + held_hidden_state + cast_weights + loss_forward + labels + gathered_at_loss,
                         "Forward, at the loss", byte, tex="f_1", source=MOMENTS)  # fmt: skip
forward_at_final_norm = define(
    kept_layers + kept_tables + cast_weights + gathered_at_loss + choose(method, frozen=0, full=8 * bf16 * hidden_size, lora=7 * bf16 * hidden_size, p_tuning=7 * bf16 * hidden_size) * micro_tokens,
    "Forward, at the final norm", byte, tex="f_2", source=MOMENTS,
)  # fmt: skip
forward_at_gather = define(when(is_gathered, gathered_in_forward + kept_layers + kept_tables), "Forward, when a layer is gathered", byte, tex="f_4",
                           source=f"{MOMENTS}; FSDP: settled by runs 48 and 49")  # fmt: skip
forward_at_last_layer = define(gathered_at_loss + kept_layers + rotary_tables + attention_mask + cast_weights + highest(recomputed_mlp_forward, down_projection_forward),
                               "Forward, in the last layer", byte, tex="f_3", source=MOMENTS)  # fmt: skip
forward_transient = define(
    highest(forward_at_loss, forward_at_final_norm, forward_at_gather, forward_at_last_layer), "Forward: activations, logits and loss", byte, tex="M_f",
    source="largest of the rows above",
)  # fmt: skip

output_gradient = define(
    choose(method, frozen=0, lora=0, p_tuning=0, full=when(is_gathered, bf16, weight_width) * hidden_size * vocabulary_on_rank), "Gradient of the output layer", byte, tex="G_o",
    source="torch 2.11: the first gradient that backward makes",
)  # fmt: skip
cast_below = define(choose(checkpointing, none=cast_weights - cast_output, full=0), "bf16 copies of the weights kept by the layers", byte, tex="A_{w,b}",
                    source="torch 2.11: a kept layer holds its cast weights until its backward, a checkpointed layer casts them again")  # fmt: skip
backward_at_loss = define(accumulated_gradients + kept_layers + kept_tables + final_norm_kept + cast_below + cast_output + loss_backward + labels + gathered_at_loss,
                          "Backward, at the loss", byte, tex="b_1", source=MOMENTS)  # fmt: skip
backward_at_final_norm = define(
    accumulated_gradients + kept_layers + kept_tables + output_gradient + gathered_at_loss
    + choose(method, frozen=0, full=12 * bf16 * hidden_size + fp32, lora=12 * bf16 * hidden_size + fp32, p_tuning=12 * bf16 * hidden_size + fp32) * micro_tokens,
    "Backward, at the final norm", byte, tex="b_2", source=f"{MOMENTS}; settled by run 63",
)  # fmt: skip
backward_in_top_layer = define(accumulated_gradients + below_last_layer + kept_tables + cast_below + output_gradient + layer_backward + gathered_in_backward - reduced_layer,
                               "Backward, in the top layer", byte, tex="b_3", source=MOMENTS)  # fmt: skip
backward_in_bottom_layer = define(
    highest(0, gradients - choose(method, frozen=0, lora=0, p_tuning=0, full=gradient_width * (layer_parameters_on_rank + embedding_on_rank * (1 - tied_embeddings)) / gradient_shards))
    + choose(checkpointing, none=0, full=layer_input) + kept_tables + layer_backward + gathered_in_backward,
    "Backward, in the bottom layer", byte, tex="b_4", source=f"{MOMENTS}: all gradients but this layer's and the embedding's are there",
)  # fmt: skip
backward_at_embedding = define(
    gradients + choose(method, frozen=0, lora=0, p_tuning=0, full=when(
        is_gathered, reduced_root + reduced_layer, tied_embeddings * when(is_word(precision, "amp"), weight_width * embedding_on_rank + layer_input, 2 * weight_width * embedding_on_rank)
        + layer_input * (1 - tied_embeddings))),
    "Backward, at the embedding", byte, tex="b_5", source=f"{MOMENTS}: tied embeddings: two gradients and their sum; the peak in 18 of 95 phases",
)  # fmt: skip
backward_transient = define(
    highest(backward_at_loss, backward_at_final_norm, backward_in_top_layer, backward_in_bottom_layer, backward_at_embedding),
    "Backward: activations, loss and gradients", byte, tex="M_b", source="largest of the rows above",
)  # fmt: skip
step_transient = define(gradients + optimizer_transient, "Optimizer step: gradients and temporaries", byte, tex="M_s", source="torch 2.11, torch/optim/adamw.py")
update_transient = define(highest(accumulated_gradients + forward_transient, backward_transient, step_transient), "Update, optimizer states in place", byte, tex="M_u",
                          source="largest of forward, backward and step")  # fmt: skip
first_update_transient = define(
    highest(accumulated_gradients + forward_transient, backward_transient, step_transient + optimizer_states), "First update", byte, tex="M_{u,1}",
    source="the same, but the optimizer states appear in the step only",
)  # fmt: skip
tied_output_transient = define(when(Eq(tied_embeddings, 1), weight_width * embedding_on_rank, 0), "Output layer made before it is tied", byte, tex="M_{tie}",
                               source="transformers 5.17: lm_head is made, then tied; exact in runs 1 to 28")  # fmt: skip
loading_transient = define(highest(0, tied_output_transient - adapters), "The same, beyond the adapters that come later", byte, tex="M_{load}",
                           source="peft 0.21: adapters are added after the output layer is tied")  # fmt: skip

sync_bucket = given("Bucket of the weight sync", byte, tex="S_b", default=2147483648, source="verl 0.9.1: update_weights_bucket_megabytes 2048")
sync_transient = define(sync_bucket + weight_width * highest(embedding_on_rank, output_on_rank, layer_parameters_on_rank / 4), "Weight sync to the engine", byte, tex="M_y",
                        source="verl 0.9.1, FSDP2: the bucket and the largest tensor, gathered; read in source, not measured")  # fmt: skip
