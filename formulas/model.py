"""Model shape: how many parameters there are, and how many of them one rank holds.

Dense decoders of the Llama and Qwen families: grouped-query attention, gated MLP, RMSNorm, rotary positions.
"""

from pathlib import Path

from sympy import Eq, floor

from memsheet.catalogue import read
from memsheet.declare import (
    all_of,
    by_stage,
    byte,
    catalogue_option,
    catalogue_value,
    caution,
    count,
    define,
    given,
    highest,
    layers,
    parameters,
    ranks,
    require,
    when,
)  # fmt: skip

CONFIG = "Hugging Face config.json of the model; transformers 5.17, models/llama and models/qwen2"

bf16 = given("Bytes of a bf16 or fp16 number", byte, per="scenario", default=2, limits=(2, 2), tex="b_{16}", source="IEEE 754; bfloat16")
fp32 = given("Bytes of an fp32 number", byte, per="scenario", default=4, limits=(4, 4), tex="b_{32}", source="IEEE 754")
int64 = given("Bytes of a token index", byte, per="scenario", default=8, limits=(8, 8), tex="b_{64}", source="torch.long")

model = catalogue_option(read(Path(__file__).with_name("catalogues") / "models.yaml"), "Model")
hidden_size = catalogue_value(model, "hidden_size", tex="h")
intermediate_size = catalogue_value(model, "intermediate_size", tex="f")
number_of_layers = catalogue_value(model, "layers", tex="L")
attention_heads = catalogue_value(model, "attention_heads", tex="n_q")
key_value_heads = catalogue_value(model, "key_value_heads", tex="n_k")
head_dimension = catalogue_value(model, "head_dimension", tex="d")
vocabulary_size = catalogue_value(model, "vocabulary_size", tex="V")
tied_embeddings = catalogue_value(model, "tied_embeddings", tex="t")
attention_bias = catalogue_value(model, "attention_bias", tex="b_a")
query_key_norms = catalogue_value(model, "query_key_norms", tex="n_{qk}")

tensor_parallel_size = given("Tensor-parallel ranks", ranks, tex="N_t", default=1, limits=(1, 1024), whole=True)
pipeline_parallel_size = given("Pipeline stages", ranks, tex="N_p", default=1, limits=(1, 1024), whole=True)
data_parallel_size = given("Data-parallel ranks", ranks, tex="N_d", default=1, limits=(1, 65536), whole=True)
ranks_of_role = define(tensor_parallel_size * pipeline_parallel_size * data_parallel_size, "GPUs that the role runs on", ranks,
                       tex="N", source="Megatron-LM, core/parallel_state.py: world = tp x pp x dp")  # fmt: skip

stage_index = by_stage("Index of the pipeline stage", only=0, first=0, middle=highest(0, floor((pipeline_parallel_size - 1) / 2)),
                       last=pipeline_parallel_size - 1, tex="s", source="definition: the first, a middle and the last stage")  # fmt: skip
stages_covered = by_stage("Stages that the columns stand for", only=1, first=pipeline_parallel_size, middle=pipeline_parallel_size, last=pipeline_parallel_size,
                          source="definition")  # fmt: skip

query_width = define(attention_heads * head_dimension, "Width of all queries", count, tex="q", source=CONFIG)
key_value_width = define(key_value_heads * head_dimension, "Width of all keys, and of all values", count, tex="k", source=CONFIG)
matrix_parameters = define(2 * hidden_size * query_width + 2 * hidden_size * key_value_width + 3 * hidden_size * intermediate_size,
                           "Parameters of one layer's matrices", parameters, tex="P_m", source=CONFIG)  # fmt: skip
bias_parameters = define(attention_bias * (query_width + 2 * key_value_width), "Biases of one layer", parameters, tex="P_b", source=CONFIG)
norm_parameters = define(2 * hidden_size + 2 * query_key_norms * head_dimension, "Norm weights of one layer", parameters, tex="P_n", source=CONFIG)
embedding_parameters = define(vocabulary_size * hidden_size, "Embedding", parameters, tex="P_e", source=CONFIG)
model_parameters = define(
    number_of_layers * (matrix_parameters + bias_parameters + norm_parameters) + (2 - tied_embeddings) * embedding_parameters + hidden_size,
    "Parameters of the whole model", parameters, tex="P",
    source="count of AutoModelForCausalLM on the meta device, transformers 5.17; exact for every model of the catalogue",
)  # fmt: skip

layers_on_stage = define(number_of_layers / pipeline_parallel_size, "Layers on one stage", layers, tex="L_s",
                         source="Megatron-LM, core/transformer/transformer_block.py: an even split")  # fmt: skip
query_width_on_rank = define(query_width / tensor_parallel_size, "Query width on one rank", count, tex="q_t",
                             source="Megatron-LM, core/transformer/attention.py: heads are split")  # fmt: skip
heads_on_rank = define(attention_heads / tensor_parallel_size, "Query heads on one rank", count, tex="n_t",
                       source="Megatron-LM, core/transformer/attention.py: heads are split")  # fmt: skip
key_value_width_on_rank = define(highest(key_value_width / tensor_parallel_size, head_dimension), "Key width on one rank", count, tex="k_t",
                                 source="vLLM 0.24, model_executor/layers/linear.py: a head is repeated where there are fewer heads than ranks")  # fmt: skip
intermediate_size_on_rank = define(intermediate_size / tensor_parallel_size, "MLP width on one rank", count, tex="f_t",
                                   source="Megatron-LM, core/transformer/mlp.py: columns are split")  # fmt: skip
vocabulary_on_rank = define(when(Eq(stage_index, pipeline_parallel_size - 1), vocabulary_size / tensor_parallel_size),
                            "Vocabulary rows of the output layer on one rank", count, tex="V_t",
                            source="Megatron-LM, core/tensor_parallel/layers.py: the last stage has the output layer, split by rows")  # fmt: skip
layer_parameters_on_rank = define(
    hidden_size * (2 * query_width_on_rank + 2 * key_value_width_on_rank + 3 * intermediate_size_on_rank)
    + bias_parameters / tensor_parallel_size + norm_parameters,
    "Parameters of one layer on one rank", parameters, tex="P_l", source="Megatron-LM, core/tensor_parallel/layers.py: matrices are split, norms are not",
)  # fmt: skip
embedding_on_rank = define(when(Eq(stage_index, 0), embedding_parameters / tensor_parallel_size), "Embedding on one rank", parameters, tex="P_{e,t}",
                           source="Megatron-LM, core/models/common/embeddings: first stage, split by rows")  # fmt: skip
output_on_rank = define(
    when(Eq(stage_index, pipeline_parallel_size - 1),
         hidden_size + when(all_of(Eq(pipeline_parallel_size, 1), Eq(tied_embeddings, 1)), 0, embedding_parameters / tensor_parallel_size)),
    "Output layer and final norm on one rank", parameters, tex="P_{o,t}",
    source="Megatron-LM, core/models/gpt/gpt_model.py: a tied output is a second copy when there are several stages",
)  # fmt: skip
parameters_on_rank = define(layers_on_stage * layer_parameters_on_rank + embedding_on_rank + output_on_rank,
                            "Parameters of the base model on one rank", parameters, tex="P_r", source="sum of the rows above")  # fmt: skip

even_layers = require(Eq(floor(layers_on_stage), layers_on_stage), "the layers do not divide evenly among the pipeline stages: choose a divisor of the layer count",
                      source="Megatron-LM, core/transformer/transformer_block.py")  # fmt: skip
even_heads = require(Eq(floor(heads_on_rank), heads_on_rank), "the attention heads do not divide evenly among the tensor-parallel ranks: choose a divisor of the head count",
                     source="Megatron-LM, core/transformer/transformer_config.py")  # fmt: skip
stages_shown = require(Eq(stages_covered, pipeline_parallel_size),
                       "these columns were built without pipeline stages: rebuild with pipeline_parallel_size in the scenario", source="layout of this workbook")  # fmt: skip
tensor_parallel_unchecked = caution(tensor_parallel_size * pipeline_parallel_size > 1,
                                    "tensor and pipeline parallelism are a first cut, not yet compared with a measurement", source="no record in measurements/")  # fmt: skip

#: Which input decides whether a pool's columns are split into pipeline stages.
STRUCTURE = {"stages": pipeline_parallel_size}
