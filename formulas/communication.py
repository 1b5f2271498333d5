"""Communication: what sharding gathers, and what collectives hold outside the caching allocator."""

from memsheet.declare import all_of, byte, choose, define, given, is_word, when

from .model import (
    bf16,
    data_parallel_size,
    embedding_on_rank,
    fp32,
    layer_parameters_on_rank,
    layers_on_stage,
    output_on_rank,
)
from .states import adapter_parameters, lora_parameters, method, sharding

FSDP2 = "torch 2.11, distributed/fsdp/_fully_shard; facts checked on fake-group runs 44 to 49 of measurements/h200"

communication_buffers = given(
    "NCCL and other buffers outside the caching allocator", byte, per="process", tex="C_n", default=0,
    source="not counted unless a scenario states it; verl 0.9.1 on one H200: about 400 MiB beside the CUDA context",
)  # fmt: skip

is_gathered = all_of(is_word(sharding, "zero_3"), data_parallel_size > 1)
gathered_layer = define(when(is_gathered, bf16 * (layer_parameters_on_rank + choose(method, frozen=0, full=0, lora=lora_parameters / layers_on_stage, p_tuning=0))),
                        "One layer, gathered", byte, tex="U", source=FSDP2)  # fmt: skip
gathered_root = define(when(is_gathered, bf16 * (embedding_on_rank + output_on_rank)), "Embedding, output layer and final norm, gathered", byte, tex="U_0", source=FSDP2)
gathered_in_inference = define(gathered_root + 2 * gathered_layer, "Parameters gathered at once without gradients", byte, tex="M_{u,0}",
                               source=f"{FSDP2}: the root and two layers, one prefetched")  # fmt: skip
gathered_at_loss = define(gathered_root + gathered_layer, "Parameters gathered at the loss", byte, tex="M_{u,l}",
                          source=f"{FSDP2}: the root stays gathered, the last layer's buffer is still held")  # fmt: skip
gathered_in_forward = define(gathered_root + 3 * gathered_layer, "Parameters gathered at once in forward", byte, tex="M_{u,f}",
                             source=f"{FSDP2}: the previous buffer, the new one, and the parameters copied out of it")  # fmt: skip
reduced_layer = define(
    when(is_gathered, fp32 * choose(method, frozen=0, full=layer_parameters_on_rank, lora=adapter_parameters / layers_on_stage, p_tuning=0)),
    "Reduce-scatter input of one layer", byte, tex="U_r", source=f"{FSDP2}: fp32, one in flight",
)  # fmt: skip
gathered_in_backward = define(gathered_root + 2 * gathered_layer + reduced_layer, "Parameters and gradients gathered at once in backward", byte, tex="M_{u,b}",
                              source=f"{FSDP2}: own parameters, the next prefetch, the previous layer's gradients")  # fmt: skip
reduced_root = define(when(is_gathered, choose(method, frozen=0, lora=0, p_tuning=0, full=(bf16 + fp32) * (embedding_on_rank + output_on_rank))),
                      "Gradients of the root, before and in their reduce-scatter", byte, tex="U_{r,0}", source=f"{FSDP2}: bf16 gradients, fp32 input of the reduce-scatter")  # fmt: skip
