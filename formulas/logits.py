"""Logits and loss: tensors as wide as the vocabulary, on the last pipeline stage only."""

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
    require,
    tokens,
    when,
)

from .activations import (
    compute_width,
    micro_batch_size,
    micro_tokens,
    norm_kept,
    sequence_on_rank,
)  # fmt: skip
from .model import (
    bf16,
    fp32,
    hidden_size,
    int64,
    layer_parameters_on_rank,
    layers_on_stage,
    norm_parameters,
    vocabulary_on_rank,
)
from .states import method, output_head, precision

LOSS = "transformers 5.17, loss/loss_utils.py ForCausalLMLoss; exact in runs 1 to 37 of measurements/h200"

response_length = given("Tokens of a response", tokens, per="scenario", tex="R", default=0, limits=(0, 1e8), whole=True)
scoring_batch_size = given("Sequences scored in one pass without gradients", count, per="scenario", tex="B_s", limits=(1, 1e6), whole=True,
                           note="verl: log_prob_micro_batch_size_per_gpu; a hand-written loop scores the whole batch")  # fmt: skip
log_prob_precision = given("Precision of the log-softmax over responses", choices=("fp32", "bf16"), default="fp32", note="fp32: the loop calls logits.float()")
loss = given("Loss", choices=("cross_entropy", "in_place", "policy"), default="cross_entropy",
             note="cross_entropy: Hugging Face, fp32 copy and log-softmax; in_place: flash-attn's cross-entropy; policy: log-softmax over the response only")  # fmt: skip
held_rows = define(choose(output_head, language_model=vocabulary_on_rank, value=0), "Width of the logits on one rank", count, tex="V_h",
                   source="a value head has no logits")  # fmt: skip
scored_tokens = define(micro_batch_size * response_length, "Response tokens of a micro-batch", tokens, tex="T_R", source="definition")
log_prob_width = define(choose(log_prob_precision, fp32=fp32, bf16=bf16), "Bytes of a log-softmax entry", byte, tex="u", source="the loop's own choice")

final_norm_kept = define(
    choose(method, frozen=0, lora=(fp32 * hidden_size + fp32) * micro_tokens, p_tuning=(fp32 * hidden_size + fp32) * micro_tokens,
           full=norm_kept * micro_tokens + when(is_word(precision, "amp"), bf16 * hidden_size * micro_tokens)),
    "Kept by the final norm", byte, tex="A_n", source=f"{LOSS}; the last hidden state is its output",
)  # fmt: skip
held_hidden_state = define(
    choose(method, frozen=0, lora=bf16 * hidden_size * micro_tokens, p_tuning=bf16 * hidden_size * micro_tokens,
           full=when(is_word(precision, "amp"), fp32 * hidden_size * micro_tokens)),
    "Last hidden state that the caller still holds", byte, tex="A_h", source=LOSS,
)  # fmt: skip
cast_weights = define(when(all_of(is_word(method, "full"), is_word(precision, "amp")), bf16 * (layers_on_stage * (layer_parameters_on_rank - norm_parameters) + vocabulary_on_rank * hidden_size)),
                      "bf16 copies of the weights under autocast", byte, tex="A_w", source="torch 2.11, autocast cache: alive to the end of the autocast block")  # fmt: skip
cast_output = define(when(all_of(is_word(method, "full"), is_word(precision, "amp")), bf16 * vocabulary_on_rank * hidden_size),
                     "bf16 copy of the output layer under autocast", byte, tex="A_{w,o}", source="torch 2.11, autocast cache")  # fmt: skip
labels = define(int64 * micro_tokens + int64 * (micro_tokens + micro_batch_size), "Labels", byte, tex="A_l", source=f"{LOSS}: shifted and padded copies")
loss_forward = define(
    choose(loss, cross_entropy=(compute_width * when(is_word(precision, "fp32"), 0, 1) + 2 * fp32) * held_rows * micro_tokens,
           in_place=bf16 * held_rows * micro_tokens,
           policy=bf16 * held_rows * micro_tokens + 2 * log_prob_width * held_rows * scored_tokens),
    "Logits and loss in forward", byte, tex="l_f", source=f"{LOSS}: bf16 logits, fp32 copy, log-softmax; policy: settled by runs 62 to 64",
)  # fmt: skip
loss_backward = define(
    choose(loss, cross_entropy=3 * fp32 * held_rows * micro_tokens, in_place=2 * bf16 * held_rows * micro_tokens,
           policy=highest(3 * log_prob_width * held_rows * scored_tokens, bf16 * held_rows * micro_tokens + bf16 * held_rows * scored_tokens)),
    "Logits and loss in backward", byte, tex="l_b", source=f"{LOSS}: log-softmax, its gradient, the logits' gradient",
)  # fmt: skip
scoring_tokens = define(scoring_batch_size * sequence_on_rank, "Tokens scored in one pass", tokens, tex="T_s", source="definition")
log_prob_padded = given("Log-prob over padded sequences", choices=("response", "full", "packed"), default="response",
                        note="response: slice, then log-softmax of the response; full: entropy over every position (verl without remove_padding); packed: verl with remove_padding")  # fmt: skip
log_prob_logits = define(
    choose(log_prob_padded,
           response=highest(bf16 * vocabulary_on_rank * scoring_tokens + 2 * log_prob_width * vocabulary_on_rank * scoring_batch_size * response_length,
                            bf16 * (vocabulary_on_rank + hidden_size) * scoring_tokens),
           full=(bf16 + 3 * fp32) * vocabulary_on_rank * scoring_tokens,
           packed=bf16 * (vocabulary_on_rank + hidden_size) * scoring_tokens),
    "Logits and log-softmax without gradients", byte, tex="l_p",
    source="response: runs 62 to 64 of measurements/h200; full: verl 0.9.1, ppo_full log, 14 bytes; packed: verl 0.9.1 source, not measured",
)  # fmt: skip

policy_needs_response = require(implies(is_word(loss, "policy"), response_length > 0), "the policy loss needs response_length: state how many tokens of a sequence are the response",
                                source="definition")  # fmt: skip
