"""Moments: the most that one layer holds while forward or backward runs through it.

Forward counts what a layer holds beyond what it keeps, backward all of it: kept, computed again and gradients.
"""

from memsheet.declare import all_of, byte, choose, define, highest, when

from .activations import (
    BF16_LORA, EAGER, LAYER, LORA, REPLAY, attention, attention_kept, cast_attention_kept, checkpointing, compute_width,
    head_norm_kept, input_copy_width, is_checkpointed, is_eager, is_grouped, layer_activations, layer_kept,
    micro_tokens, norm_kept, residual_width, score_width, sequence_tokens,
)
from .model import (
    bf16, fp32, heads_on_rank, hidden_size, intermediate_size_on_rank, key_value_width_on_rank,
    layer_parameters_on_rank, query_width_on_rank,
)
from .states import (
    adapter_on_down, adapter_on_up, adapter_precision, adapter_width, fresh_gradient_width, is_full, is_lora, lora_rank,
    method, precision,
)

# --- forward: beyond what is kept ---

returned_scores = define(
    choose(attention, sdpa=0, eager=compute_width * heads_on_rank * sequence_tokens),
    "Scores that eager attention returns, for each token", byte, tex="m_s", source=f"{EAGER}: alive to the layer's end",
)
plain_mlp_forward = define(
    3 * compute_width * intermediate_size_on_rank + 2 * residual_width * hidden_size,
    "Forward through the MLP, for each token", byte, tex="m_{f,p}", source=f"{LAYER}: gate, up and their product",
)
adapted_up_forward = define(
    (2 * bf16 + 2 * adapter_width) * intermediate_size_on_rank + (2 * bf16 + input_copy_width) * hidden_size,
    "Forward through up with LoRA, for each token", byte, tex="m_{f,u}",
    source=f"{LORA}: gate, up, the adapter's output and its scaled copy; settled by run 62",
    note="first cut where adapters are bf16",
)
adapted_down_forward = define(
    (bf16 + input_copy_width) * intermediate_size_on_rank + (3 * bf16 + 2 * adapter_width) * hidden_size,
    "Forward through down with LoRA, for each token", byte, tex="m_{f,d}", source=f"{LORA}; {REPLAY}",
    note="first cut where adapters are bf16",
)
adapted_mlp_forward = define(
    highest(plain_mlp_forward, adapter_on_up * adapted_up_forward, adapter_on_down * adapted_down_forward),
    "Forward through the MLP with LoRA, for each token", byte, tex="m_{f,l}", source=LORA,
)
mlp_forward = define(
    choose(method, frozen=plain_mlp_forward, full=plain_mlp_forward, lora=adapted_mlp_forward,
           p_tuning=plain_mlp_forward),
    "Forward through the MLP with its adapters, for each token", byte, tex="m_f", source=LAYER,
)
mlp_and_scores = define(
    mlp_forward + returned_scores,
    "Forward through the MLP beside the scores, for each token", byte, tex="m_{f,s}", source=EAGER,
)
kept_up_forward = define(
    adapter_width * (intermediate_size_on_rank - lora_rank * adapter_on_down) + 4 * bf16 * hidden_size,
    "Forward through up of a kept layer, beyond what it keeps, for each token", byte, tex="m_{k,u}",
    source=f"{LORA}; {REPLAY}",
)
kept_down_forward = define(
    bf16 * intermediate_size_on_rank + 9 * bf16 * hidden_size,
    "Forward through down of a kept layer, beyond what it keeps, for each token", byte, tex="m_{k,d}",
    source=f"{LORA}; {REPLAY}",
)
kept_mlp_forward = define(
    when(is_lora, highest(adapter_on_up * kept_up_forward, adapter_on_down * kept_down_forward)),
    "Forward through the MLP of a kept layer, beyond what it keeps, for each token", byte, tex="m_{k,f}", source=LORA,
)
softmax_forward = define(
    when(is_eager, (fp32 + score_width) * heads_on_rank * sequence_tokens
         + compute_width * (hidden_size + query_width_on_rank + 2 * key_value_width_on_rank
                            + when(is_grouped, 2 * query_width_on_rank))),
    "Forward through eager softmax, for each token", byte, tex="m_e",
    source=f"{EAGER}: scores, their fp32 copy, softmax",
)
kept_softmax_forward = define(
    when(all_of(is_eager, is_full), softmax_forward + norm_kept + head_norm_kept - layer_kept + compute_width * (
        hidden_size + query_width_on_rank + when(is_grouped, 0, query_width_on_rank) + sequence_tokens)),
    "Forward through eager softmax of a kept layer, beyond what it keeps, for each token", byte, tex="m_{k,e}",
    source=f"{EAGER}: with the mask, which a kept layer drops",
)
kept_layer_forward = define(
    highest(kept_mlp_forward, kept_softmax_forward),
    "Highest forward moment of a kept layer, for each token", byte, tex="m_k", source="larger of the rows above",
)
recomputed_layer_forward = define(
    highest(mlp_and_scores, softmax_forward),
    "Highest forward moment of a checkpointed layer, for each token", byte, tex="m_r",
    source="larger of the rows above",
)
layer_forward = define(
    choose(checkpointing, full=recomputed_layer_forward, none=kept_layer_forward) * micro_tokens,
    "Highest moment of one layer's forward", byte, tex="m_1", source="definition",
)

# --- backward: all that the layer itself holds ---

trained_product_backward = define(
    layer_activations + (2 * compute_width * intermediate_size_on_rank + residual_width * hidden_size) * micro_tokens
    + fresh_gradient_width * hidden_size * intermediate_size_on_rank,
    "Backward through the product of gate and up, full", byte, tex="m_{p,t}",
    source=f"{LAYER}: two gradients, and that of down's weight; settled by runs 44 and 46",
)
adapted_product_gradients = define(
    bf16 * hidden_size + choose(
        adapter_precision, fp32=bf16 * intermediate_size_on_rank * (3 - 2 * adapter_on_down),
        bf16=bf16 * (3 * intermediate_size_on_rank - adapter_on_down * (intermediate_size_on_rank + lora_rank))),
    "Gradients of the product of gate and up with LoRA, for each token", byte, tex="m_{p,g}",
    source=f"{LORA}; {REPLAY}; bf16: settled by run 49",
)
down_adapter_gradients = define(
    choose(adapter_precision, fp32=0, bf16=bf16) * adapter_on_down * lora_rank
    * (hidden_size + intermediate_size_on_rank),
    "Fresh gradients of down's adapter", byte, tex="m_{p,d}", source=BF16_LORA,
)
adapted_product_backward = define(
    layer_activations + adapted_product_gradients * micro_tokens + down_adapter_gradients,
    "Backward through the product of gate and up, LoRA", byte, tex="m_{p,l}", source="sum of the rows above",
)
frozen_product_backward = define(
    layer_activations + (3 * bf16 * intermediate_size_on_rank + bf16 * hidden_size) * micro_tokens,
    "Backward through the product of gate and up, P-Tuning", byte, tex="m_{p,f}", source=f"{LORA}: no adapter on down",
    note="first cut",
)
product_backward = define(
    choose(method, frozen=0, full=trained_product_backward, lora=adapted_product_backward,
           p_tuning=frozen_product_backward),
    "Backward through the product of gate and up", byte, tex="m_p", source=LAYER,
)
adapted_down_backward = define(
    when(is_lora, adapter_on_down * (layer_activations + micro_tokens * (
        adapter_width * intermediate_size_on_rank + 2 * bf16 * hidden_size))),
    "Backward through down with LoRA", byte, tex="m_d", source=f"{LORA}; {REPLAY}",
)
recomputed_up = define(
    when(all_of(is_lora, is_checkpointed), adapter_on_up * (layer_activations + micro_tokens * adapter_width * (
        intermediate_size_on_rank - lora_rank * adapter_on_down + 3 * hidden_size))),
    "Up with LoRA, computed again", byte, tex="m_u", source=f"{LORA}; settled by run 62",
)
second_norm_gradients = define(
    choose(precision, bf16=4 * fp32, fp16=4 * fp32, mixed=4 * fp32, fp32=3 * fp32, amp=3 * fp32) * hidden_size
    + residual_width * hidden_size,
    "Gradients in the second norm, for each token", byte, tex="m_{n,g}",
    source=f"{LAYER}: six fp32 copies of the hidden state, two of them kept; settled by run 48",
)
second_norm_backward = define(
    when(is_full, layer_activations + 3 * fresh_gradient_width * hidden_size * intermediate_size_on_rank
         + (second_norm_gradients - 4 * compute_width * intermediate_size_on_rank) * micro_tokens),
    "Backward through the second norm", byte, tex="m_n",
    source=f"{LAYER}: the MLP's tensors are gone, its gradients there",
)
flash_gradients = define(
    fp32 * heads_on_rank + fp32 * query_width_on_rank + compute_width
    * (2 * query_width_on_rank + 2 * key_value_width_on_rank + when(is_grouped, 2 * query_width_on_rank)),
    "Gradients in fused attention, for each token", byte, tex="m_{a,f}",
    source=f"{LAYER}: of output, q, k, v (repeated for grouped heads), q in fp32, row sums; {REPLAY}",
)
eager_gradients = define(
    (4 * fp32 - score_width) * heads_on_rank * sequence_tokens - compute_width * query_width_on_rank,
    "Gradients in eager attention, beyond what it keeps, for each token", byte, tex="m_{a,e}",
    source=f"{EAGER}: softmax, its gradient, their product and the result; settled by runs 17 and 18",
)
attention_gradients = define(
    choose(attention, sdpa=flash_gradients, eager=eager_gradients),
    "Gradients in attention, for each token", byte, tex="m_{a,g}", source=LAYER,
)
attention_working = define(
    norm_kept + head_norm_kept + attention_kept + attention_gradients,
    "Attention in backward, for each token", byte, tex="m_{a,w}", source="sum of the rows above",
)
trained_attention_backward = define(
    (attention_working + cast_attention_kept + residual_width * hidden_size) * micro_tokens
    + fresh_gradient_width * hidden_size * (3 * intermediate_size_on_rank + query_width_on_rank),
    "Backward through attention, full", byte, tex="m_{a,t}",
    source=f"{LAYER}: beside the gradients of the MLP and of attention's output; {REPLAY}",
)
frozen_attention_backward = define(
    (attention_working + 3 * bf16 * hidden_size) * micro_tokens,
    "Backward through attention, frozen", byte, tex="m_{a,l}", source=f"{LORA}; {REPLAY}",
)
attention_backward = define(
    choose(method, frozen=0, full=trained_attention_backward, lora=frozen_attention_backward,
           p_tuning=frozen_attention_backward),
    "Backward through attention", byte, tex="m_a", source=LAYER,
)
first_norm_backward = define(
    when(is_full, (6 * fp32 + residual_width) * hidden_size * micro_tokens
         + fresh_gradient_width * layer_parameters_on_rank),
    "Backward through the first norm", byte, tex="m_{n,1}",
    source=f"{LAYER}: beside all of the layer's gradients; {REPLAY}",
)
layer_backward = define(
    highest(product_backward, adapted_down_backward, recomputed_up, second_norm_backward, attention_backward,
            first_norm_backward),
    "Highest moment of one layer's backward", byte, tex="m_2", source="largest of the rows above",
)
