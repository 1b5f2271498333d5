"""Logits and loss: tensors as wide as the vocabulary, on the last pipeline stage only."""

from memsheet.declare import (
    all_of, byte, choose, count, define, given, highest, implies, is_word, require, sequences, tokens, when,
)

from .activations import micro_batch_size, micro_tokens, norm_kept, sequence_tokens
from .model import (
    bf16, fp32, hidden_size, int64, is_last_stage, layer_parameters_on_rank, layers_on_stage, norm_parameters,
    vocabulary_on_rank,
)
from .states import is_amp, is_fp32, is_full, method, output_head

LOSS = "transformers 5.17, loss/loss_utils.py ForCausalLMLoss; exact in runs 1 to 37 of measurements/h200"
POLICY = "the loop of measurements/h200/measure.py; settled by runs 62 to 64"
IN_PLACE = "verl 0.9.1, utils/torch_functional.py, with flash-attn's cross entropy; read in source, not measured"
AUTOCAST_CACHE = "torch 2.11, torch/amp/autocast_mode.py: cached to the end of its block; settled by runs 19 and 20"

# --- what a scenario says of the loss ---

response_length = given("Tokens of a response", tokens, per="scenario", tex="R", default=0, limits=(0, 1e8), whole=True)
scoring_batch_size = given(
    "Sequences scored in one pass without gradients", sequences, per="scenario", tex="B_s", limits=(1, 1e6), whole=True,
    note="verl: log_prob_micro_batch_size_per_gpu; a hand-written loop scores the whole batch",
)
log_prob_precision = given(
    "Precision of the log-softmax over responses", choices=("fp32", "bf16"), default="fp32",
    note="fp32: the loop calls logits.float()",
)
loss = given(
    "Loss", choices=("cross_entropy", "in_place", "policy"), default="cross_entropy",
    note="cross_entropy: Hugging Face, fp32 copy and log-softmax; in_place: flash-attn's cross entropy; "
         "policy: log-softmax over the response only",
)
log_prob_padded = given(
    "Log-probabilities over padded sequences", choices=("response", "full", "packed"), default="response",
    note="response: slice, then log-softmax of the response; full: entropy over every position (verl without "
         "remove_padding); packed: verl with remove_padding",
)

# --- sizes ---

logits_width = define(
    choose(output_head, language_model=vocabulary_on_rank, value=0),
    "Width of the logits on one rank", count, tex="V_h", source="a value head has no logits",
)
response_tokens = define(
    micro_batch_size * response_length,
    "Response tokens of a micro-batch", tokens, tex="T_r", source="definition",
)
scoring_tokens = define(
    scoring_batch_size * sequence_tokens,
    "Tokens scored in one pass", tokens, tex="T_s", source="definition",
)
log_prob_width = define(
    choose(log_prob_precision, fp32=fp32, bf16=bf16),
    "Bytes of a log-softmax entry", byte, tex="e_u", source=POLICY,
)
half_logits = define(
    when(is_fp32, 0, bf16),
    "Bytes of a logit beside its fp32 copy", byte, tex="e_l", source=f"{LOSS}: logits.float() copies bf16 logits",
)

# --- kept beside the layers ---

final_norm_kept = define(
    when(is_last_stage, micro_tokens * (norm_kept + when(all_of(is_full, is_amp), bf16 * hidden_size))),
    "Kept by the final norm", byte, tex="A_n", source=f"{LOSS}; under autocast also the output layer's bf16 input",
)
caller_width = define(
    choose(method, frozen=0, lora=bf16, p_tuning=bf16, full=when(is_amp, fp32)),
    "Bytes of a last hidden state that the caller holds", byte, tex="e_h", source=LOSS,
)
held_hidden_state = define(
    choose(loss, cross_entropy=when(is_last_stage, caller_width * hidden_size * micro_tokens), in_place=0, policy=0),
    "Last hidden state that the caller holds", byte, tex="A_c", source=LOSS,
)
cast_output = define(
    when(all_of(is_full, is_amp), bf16 * logits_width * hidden_size),
    "bf16 copy of the output matrix under autocast", byte, tex="A_{w,o}", source=AUTOCAST_CACHE,
)
cast_layers = define(
    when(all_of(is_full, is_amp), bf16 * layers_on_stage * (layer_parameters_on_rank - norm_parameters)),
    "bf16 copies of the layers' weights under autocast", byte, tex="A_w", source=AUTOCAST_CACHE,
)
labels_in_loss = define(
    choose(loss, cross_entropy=int64 * (2 * micro_tokens + micro_batch_size), in_place=int64 * micro_tokens, policy=0),
    "Labels in the loss", byte, tex="A_y", source=f"{LOSS}: shifted and padded copies",
)
labels_kept = define(
    choose(loss, cross_entropy=int64 * micro_tokens, in_place=int64 * micro_tokens, policy=0),
    "Labels kept for backward", byte, tex="A_{y,k}", source=LOSS,
)

# --- the loss ---

cross_entropy_forward = define(
    (half_logits + 2 * fp32) * logits_width * micro_tokens,
    "Cross entropy in forward", byte, tex="l_{c,f}", source=f"{LOSS}: logits, their fp32 copy, log-softmax",
)
cross_entropy_backward = define(
    3 * fp32 * logits_width * micro_tokens,
    "Cross entropy in backward", byte, tex="l_{c,b}", source=f"{LOSS}: log-softmax, its gradient, the logits' gradient",
)
in_place_loss = define(
    bf16 * logits_width * micro_tokens,
    "Cross entropy in place", byte, tex="l_i", source=f"{IN_PLACE}: the gradient overwrites the logits",
    note="first cut: with entropy in the loss it is not in place, and twice as much",
)
policy_logits = define(
    bf16 * logits_width * micro_tokens,
    "Logits of the policy loss, or their gradient", byte, tex="l_p", source=POLICY,
)
policy_rows = define(
    log_prob_width * logits_width * response_tokens,
    "Log-softmax over the response", byte, tex="l_r", source=POLICY,
)
policy_forward = define(
    policy_logits + 2 * policy_rows,
    "Policy loss in forward", byte, tex="l_{p,f}", source=f"{POLICY}: logits, the response's slice, log-softmax",
)
policy_backward = define(
    highest(3 * policy_rows, policy_logits + bf16 * logits_width * response_tokens),
    "Policy loss in backward", byte, tex="l_{p,b}",
    source=f"{POLICY}: log-softmax and two gradients; then the slice's gradient in that of the logits",
)
loss_forward = define(
    choose(loss, cross_entropy=cross_entropy_forward, in_place=in_place_loss, policy=policy_forward),
    "Logits and loss in forward", byte, tex="l_f", source=LOSS,
)
loss_backward = define(
    choose(loss, cross_entropy=cross_entropy_backward, in_place=in_place_loss, policy=policy_backward),
    "Logits and loss in backward", byte, tex="l_b", source=LOSS,
)

# --- log-probabilities without gradients ---

scored_logits = define(
    bf16 * vocabulary_on_rank * scoring_tokens,
    "Logits scored in one pass", byte, tex="l_s", source=POLICY,
)
scored_output = define(
    scored_logits + bf16 * hidden_size * scoring_tokens,
    "Logits beside the last hidden state", byte, tex="l_{s,h}", source=POLICY,
    note="first cut where padding is removed",
)
scored_response = define(
    scored_logits + 2 * log_prob_width * vocabulary_on_rank * scoring_batch_size * response_length,
    "Logits, the response's slice and its log-softmax", byte, tex="l_{s,r}", source=POLICY,
)
scored_entropy = define(
    scored_logits + 3 * fp32 * vocabulary_on_rank * scoring_tokens,
    "Logits and their entropy at every position", byte, tex="l_{s,e}",
    source="verl 0.9.1, ppo_full log: softmax, logits and exponentials in fp32, 14 bytes an entry in all",
)
log_prob_logits = define(
    choose(log_prob_padded, response=highest(scored_response, scored_output), full=scored_entropy,
           packed=scored_output),
    "Logits and log-softmax without gradients", byte, tex="l_o",
    source=f"{POLICY}; packed: verl 0.9.1, use_remove_padding, read in source, not measured",
)

policy_needs_response = require(
    implies(is_word(loss, "policy"), response_length > 0),
    "the policy loss needs response_length: state how many tokens of a sequence are the response", source="definition",
)
