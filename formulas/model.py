"""Model shape: how many parameters there are, and how many of them one rank holds.

Dense decoders of the Llama and Qwen families: grouped-query attention, gated MLP, RMSNorm, rotary positions.
Several ranks split a model as Megatron-LM does: matrices by heads and columns, layers evenly into stages.
"""

from pathlib import Path

from sympy import Eq, floor

from memsheet.catalogue import read
from memsheet.declare import (
    all_of, by_stage, byte, catalogue_option, catalogue_value, caution, count, define, given, highest, layers,
    parameters, ranks, require, when,
)

CONFIG = "config.json of the model; transformers 5.17, models/llama/modeling_llama.py"
MEGATRON = "Megatron-LM core 0.13, megatron/core"

# --- bytes of a number: every other bare integer in these chapters counts tensors ---

bf16 = given(
    "Bytes of a bf16 or fp16 number", byte, per="scenario", tex="b_{16}", default=2, limits=(2, 2),
    source="IEEE 754 binary16; bfloat16",
)
fp32 = given(
    "Bytes of an fp32 number", byte, per="scenario", tex="b_{32}", default=4, limits=(4, 4), source="IEEE 754 binary32",
)
int64 = given(
    "Bytes of a token index", byte, per="scenario", tex="b_{64}", default=8, limits=(8, 8),
    source="torch 2.11, torch.long",
)

# --- shape ---

model = catalogue_option(read(Path(__file__).with_name("catalogues") / "models.yaml"), "Model")
hidden_size = catalogue_value(model, "hidden_size", tex="h")
intermediate_size = catalogue_value(model, "intermediate_size", tex="f")
number_of_layers = catalogue_value(model, "layers", tex="L")
attention_heads = catalogue_value(model, "attention_heads", tex="n_q")
key_value_heads = catalogue_value(model, "key_value_heads", tex="n_k")
head_dimension = catalogue_value(model, "head_dimension", tex="d")
vocabulary_size = catalogue_value(model, "vocabulary_size", tex="V")
tied_embeddings = catalogue_value(model, "tied_embeddings", tex="t_e")
attention_bias = catalogue_value(model, "attention_bias", tex="t_b")
query_key_norms = catalogue_value(model, "query_key_norms", tex="t_n")

query_width = define(attention_heads * head_dimension, "Width of all queries", count, tex="q", source=CONFIG)
key_value_width = define(
    key_value_heads * head_dimension,
    "Width of all keys, and of all values", count, tex="k", source=CONFIG,
)
bias_parameters = define(
    attention_bias * (query_width + 2 * key_value_width),
    "Biases of one layer", parameters, tex="P_b", source="transformers 5.17, models/qwen2/modeling_qwen2.py",
)
norm_parameters = define(
    2 * hidden_size + 2 * query_key_norms * head_dimension,
    "Norm weights of one layer", parameters, tex="P_n", source=f"{CONFIG}; models/qwen3 for the norms of q and k",
)
embedding_parameters = define(vocabulary_size * hidden_size, "Embedding", parameters, tex="P_e", source=CONFIG)

# --- ranks and stages ---

tensor_parallel_size = given("Tensor-parallel ranks", ranks, tex="N_t", default=1, limits=(1, 1024), whole=True)
pipeline_parallel_size = given("Pipeline stages", ranks, tex="N_p", default=1, limits=(1, 1024), whole=True)
data_parallel_size = given("Data-parallel ranks", ranks, tex="N_d", default=1, limits=(1, 65536), whole=True)

ranks_of_role = define(
    tensor_parallel_size * pipeline_parallel_size * data_parallel_size,
    "GPUs that the role runs on", ranks, tex="N_r", source=f"{MEGATRON}/parallel_state.py: world = tp x pp x dp",
)
stages = by_stage(
    "Stages that share the layers", only=1, first=pipeline_parallel_size, middle=pipeline_parallel_size,
    last=pipeline_parallel_size, tex="N_s", source="definition: a column without a stage stands for the whole model",
)
stage_index = by_stage(
    "Index of the pipeline stage", only=0, first=0, middle=highest(0, floor((pipeline_parallel_size - 1) / 2)),
    last=pipeline_parallel_size - 1, tex="s", source="definition: the first, a middle and the last stage",
)
is_first_stage = Eq(stage_index, 0)
is_last_stage = Eq(stage_index, pipeline_parallel_size - 1)

# --- what one rank holds ---

layers_on_stage = define(
    number_of_layers / stages,
    "Layers on one stage", layers, tex="L_s", source=f"{MEGATRON}/transformer/transformer_block.py: an even split",
)
heads_on_rank = define(
    attention_heads / tensor_parallel_size,
    "Query heads on one rank", count, tex="n_t", source=f"{MEGATRON}/transformer/attention.py: heads are split",
)
query_width_on_rank = define(
    query_width / tensor_parallel_size,
    "Query width on one rank", count, tex="q_t", source=f"{MEGATRON}/transformer/attention.py: heads are split",
)
key_value_width_on_rank = define(
    highest(key_value_width / tensor_parallel_size, head_dimension),
    "Key width on one rank", count, tex="k_t",
    source="vLLM 0.24, model_executor/layers/linear.py: where there are fewer heads than ranks they are repeated",
)
intermediate_size_on_rank = define(
    intermediate_size / tensor_parallel_size,
    "MLP width on one rank", count, tex="f_t", source=f"{MEGATRON}/transformer/mlp.py: columns are split",
)
vocabulary_on_rank = define(
    when(is_last_stage, vocabulary_size / tensor_parallel_size),
    "Vocabulary rows of the output layer on one rank", count, tex="V_t",
    source=f"{MEGATRON}/tensor_parallel/layers.py: the output layer is on the last stage, split by rows",
)
attention_parameters_on_rank = define(
    2 * hidden_size * query_width_on_rank + 2 * hidden_size * key_value_width_on_rank,
    "Attention matrices of one layer on one rank", parameters, tex="P_a", source=f"{CONFIG}: q, k, v and output",
)
mlp_parameters_on_rank = define(
    3 * hidden_size * intermediate_size_on_rank,
    "MLP matrices of one layer on one rank", parameters, tex="P_f", source=f"{CONFIG}: gate, up and down",
)
layer_parameters_on_rank = define(
    attention_parameters_on_rank + mlp_parameters_on_rank + bias_parameters / tensor_parallel_size + norm_parameters,
    "Parameters of one layer on one rank", parameters, tex="P_l",
    source=f"{MEGATRON}/tensor_parallel/layers.py: matrices and biases are split, norms are not",
)
embedding_on_rank = define(
    when(is_first_stage, embedding_parameters / tensor_parallel_size),
    "Embedding on one rank", parameters, tex="P_{e,t}",
    source=f"{MEGATRON}/models/common/embeddings: on the first stage, split by rows",
)
has_no_output_matrix = all_of(Eq(pipeline_parallel_size, 1), Eq(tied_embeddings, 1))
output_matrix_on_rank = define(
    when(is_last_stage, when(has_no_output_matrix, 0, embedding_parameters / tensor_parallel_size)),
    "Output matrix beside the embedding on one rank", parameters, tex="P_o",
    source=f"{MEGATRON}/models/gpt/gpt_model.py: a tied output is a second copy where there are several stages",
)
output_on_rank = define(
    output_matrix_on_rank + when(is_last_stage, hidden_size),
    "Output matrix and final norm on one rank", parameters, tex="P_{o,n}", source=CONFIG,
)
parameters_on_rank = define(
    layers_on_stage * layer_parameters_on_rank + embedding_on_rank + output_on_rank,
    "Parameters of the model on one rank", parameters, tex="P_r",
    source="count of AutoModelForCausalLM, transformers 5.17: exact for every model of the catalogue",
)

even_layers = require(
    Eq(floor(layers_on_stage), layers_on_stage),
    "the layers do not divide evenly among the pipeline stages: choose a divisor of the layer count",
    source=f"{MEGATRON}/transformer/transformer_block.py",
)
even_heads = require(
    Eq(floor(heads_on_rank), heads_on_rank),
    "the attention heads do not divide evenly among the tensor-parallel ranks: choose a divisor of the head count",
    source=f"{MEGATRON}/transformer/transformer_config.py",
)
stages_shown = require(
    Eq(stages, pipeline_parallel_size),
    "these columns were built without pipeline stages: rebuild with pipeline_parallel_size in the scenario",
    source="layout of this workbook",
)
tensor_parallel_unchecked = caution(
    tensor_parallel_size * pipeline_parallel_size > 1,
    "tensor and pipeline parallelism are a first cut, not yet compared with a measurement",
    source="no record in measurements/",
)

#: Which input decides whether a pool's columns are split into pipeline stages.
STRUCTURE = {"stages": pipeline_parallel_size}
