"""KV cache: plain Hugging Face generation, prefill and decoding, and scoring without gradients."""

from memsheet.declare import all_of, byte, define, highest, implies, require, tokens

from .activations import (
    batch_size, compute_width, is_eager, residual_width, rotary_tables, rotary_width, sequence_length, sequence_tokens,
)
from .communication import gathered_layer
from .logits import log_prob_logits, response_length, scoring_tokens
from .model import hidden_size, int64, key_value_width_on_rank, layers_on_stage, query_width_on_rank, vocabulary_on_rank
from .moments import mlp_forward, plain_mlp_forward

GENERATE = "transformers 5.17, cache_utils.py DynamicCache; exact in runs 38 to 43 of measurements/h200"
SCORE = "the loop of measurements/h200/measure.py; exact in runs 62 to 64"

# --- lengths ---

prompt_length = define(sequence_length - response_length, "Tokens of a prompt", tokens, tex="S_p", source="definition")
prefilled_length = define(
    prompt_length + sequence_tokens - sequence_length,
    "Tokens of a prompt, virtual ones included", tokens, tex="S_f", source="definition",
)
prefilled_tokens = define(
    batch_size * prefilled_length,
    "Tokens of all prompts, virtual ones included", tokens, tex="T_f", source="definition",
)
cached_tokens = define(
    batch_size * (sequence_tokens - 1),
    "Tokens in the cache at the last step", tokens, tex="T_k", source="definition: the last token is never fed back",
)
token_ids = define(int64 * batch_size * sequence_length, "Token ids", byte, tex="M_i", source="torch 2.11, torch.long")
prompt_ids = define(
    int64 * batch_size * prompt_length,
    "Token ids of the prompts", byte, tex="M_{i,p}", source="torch 2.11, torch.long",
)

# --- the cache ---

kv_bytes_per_token = define(
    2 * compute_width * key_value_width_on_rank * layers_on_stage,
    "KV cache of one token", byte, tex="c_k", source=f"{GENERATE}: keys and values, grouped heads are not repeated",
)
kv_cache = define(kv_bytes_per_token * cached_tokens, "KV cache", byte, tex="M_k", source=GENERATE)
prompt_kv_cache = define(
    kv_bytes_per_token * prefilled_tokens,
    "KV cache of the prompts", byte, tex="M_{k,p}", source=GENERATE,
)

# --- one layer without gradients ---

layer_without_gradients = define(
    mlp_forward + 2 * residual_width * hidden_size,
    "Highest moment of a layer without gradients, for each token", byte, tex="g",
    source=f"{GENERATE}: its MLP, beside the embeddings and the layer's input",
)
layer_without_adapters = define(
    plain_mlp_forward + 2 * residual_width * hidden_size,
    "The same with the adapters switched off, for each token", byte, tex="g_0", source=GENERATE,
)

# --- generation ---

prefill_transient = define(
    layer_without_gradients * prefilled_tokens + rotary_width * prefilled_length,
    "Prefill: one layer", byte, tex="g_p", source=f"{GENERATE}; logits of the last position only",
)
grown_cache = define(
    compute_width * key_value_width_on_rank * (cached_tokens - batch_size),
    "One layer's old values while they grow", byte, tex="g_c",
    source=f"{GENERATE}: torch.cat holds the old beside the new",
)
new_token = define(
    compute_width * (vocabulary_on_rank + 3 * hidden_size + query_width_on_rank + 2 * key_value_width_on_rank),
    "Logits and hidden states of one new token", byte, tex="g_t", source=GENERATE,
)
decode_transient = define(
    grown_cache + new_token * batch_size,
    "Decode: one layer's growing cache and the new token", byte, tex="g_d", source=GENERATE,
)
generation_transient = define(
    highest(decode_transient, prompt_kv_cache + prefill_transient - kv_cache),
    "Generation, beside the final cache", byte, tex="g_k",
    source="larger of the last decode step and the prefill, which has a smaller cache",
)

# --- scoring ---

scoring_layer = define(
    layer_without_gradients * scoring_tokens + rotary_tables,
    "Scoring: one layer", byte, tex="g_s", source=SCORE,
)
reference_layer = define(
    layer_without_adapters * scoring_tokens + rotary_tables,
    "Scoring by the reference: one layer", byte, tex="g_r", source=SCORE,
)
log_prob_transient = define(
    highest(log_prob_logits, gathered_layer + scoring_layer),
    "Log-probabilities of the responses", byte, tex="g_l",
    source="larger of the logits, and one layer with the next one gathered",
)
reference_log_prob_transient = define(
    highest(log_prob_logits, gathered_layer + reference_layer),
    "Log-probabilities of the reference", byte, tex="g_{l,r}", source="the same with the adapters switched off",
)

generation_has_lengths = require(
    all_of(prompt_length > 0, prompt_length < sequence_length),
    "generation needs response_length between 1 and sequence_length - 1: the rest is the prompt", source="definition",
)
scoring_is_fused = require(
    implies(is_eager, scoring_tokens < 1),
    "scoring and generation are covered with fused attention only: set attention to sdpa",
    source="no record in measurements/",
)
