"""KV cache: plain Hugging Face generation, prefill and decoding, and scoring without gradients."""

from memsheet.declare import all_of, byte, choose, define, highest, require, tokens

from .activations import batch_size, rotary_tables, sequence_length
from .logits import log_prob_logits, response_length, scoring_tokens
from .model import (
                            bf16,
                            hidden_size,
                            int64,
                            intermediate_size_on_rank,
                            key_value_width_on_rank,
                            layers_on_stage,
                            query_width_on_rank,
                            vocabulary_on_rank,
)
from .states import method

GENERATE = "transformers 5.17, DynamicCache; exact in runs 38 to 43 of measurements/h200"

kv_bytes_per_token = define(2 * bf16 * key_value_width_on_rank * layers_on_stage, "KV cache of one token", byte, tex="c_k",
                            source="definition: keys and values, bf16, grouped heads are not repeated")  # fmt: skip
prompt_length = define(sequence_length - response_length, "Tokens of a prompt", tokens, tex="S_p", source="definition")
cached_tokens = define(batch_size * (sequence_length - 1), "Tokens in the cache at the last step", tokens, tex="T_c",
                       source="definition: the last token is never fed back")  # fmt: skip
kv_cache = define(kv_bytes_per_token * cached_tokens, "KV cache", byte, tex="M_k", source=GENERATE)
prompt_kv_cache = define(kv_bytes_per_token * batch_size * prompt_length, "KV cache of the prompts", byte, tex="M_{k,p}", source=GENERATE)
token_ids = define(int64 * batch_size * sequence_length, "Token ids", byte, tex="M_i", source="torch.long")
prompt_ids = define(int64 * batch_size * prompt_length, "Token ids of the prompts", byte, tex="M_{i,p}", source="torch.long")
mlp_per_token = define(
    choose(method, frozen=3 * bf16 * intermediate_size_on_rank + 4 * bf16 * hidden_size, full=3 * bf16 * intermediate_size_on_rank + 4 * bf16 * hidden_size,
           p_tuning=3 * bf16 * intermediate_size_on_rank + 4 * bf16 * hidden_size, lora=6 * bf16 * intermediate_size_on_rank + 6 * bf16 * hidden_size),
    "Highest moment of a layer without gradients, for each token", byte, tex="g",
    source=f"{GENERATE}: gate, up and product beside four hidden states; LoRA adds its fp32 output, the scaled copy and the sum",
)  # fmt: skip
base_mlp_per_token = define(3 * bf16 * intermediate_size_on_rank + 4 * bf16 * hidden_size, "The same with the adapters switched off", byte, tex="g_0", source=GENERATE)
prefill_transient = define(mlp_per_token * batch_size * prompt_length + rotary_tables, "Prefill: one layer", byte, tex="g_p", source=GENERATE)
decode_transient = define(
    bf16 * key_value_width_on_rank * cached_tokens
    + (bf16 * vocabulary_on_rank + 3 * bf16 * hidden_size + bf16 * query_width_on_rank + 2 * bf16 * key_value_width_on_rank) * batch_size,
    "Decode: one layer's cache, copied to grow, and the new token", byte, tex="g_d", source=f"{GENERATE}: torch.cat holds the old values beside the new",
)  # fmt: skip
generation_transient = define(highest(decode_transient, prompt_kv_cache + prefill_transient - kv_cache), "Generation, beside the final cache", byte, tex="M_{gen}",
                              source="larger of the last decode step and the prefill, which has a smaller cache")  # fmt: skip
scoring_layer = define(mlp_per_token * scoring_tokens + rotary_tables, "Scoring: one layer", byte, tex="g_s", source=GENERATE)
log_prob_transient = define(highest(log_prob_logits, scoring_layer), "Log-probabilities of the responses", byte, tex="M_{lp}", source="larger of the logits and one layer")
reference_log_prob_transient = define(highest(log_prob_logits, base_mlp_per_token * scoring_tokens + rotary_tables), "Log-probabilities of the reference", byte, tex="M_{ref}",
                                      source="the same with the adapters switched off")  # fmt: skip

generation_has_lengths = require(all_of(prompt_length > 0, prompt_length < sequence_length),
                                 "generation needs response_length between 1 and sequence_length - 1: the rest is the prompt", source="definition")  # fmt: skip
