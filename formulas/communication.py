"""Communication: what data parallelism gathers and buckets, and what collectives hold outside the caching allocator."""

from memsheet.declare import all_of, byte, caution, define, given, is_word, parameters, when

from .model import bf16, data_parallel_size, embedding_on_rank, fp32, layer_parameters_on_rank, output_on_rank
from .states import (
    gradients, is_full, is_lora, is_sharded, is_trained, layer_lora_parameters, replaced_parameters, sharding,
    trained_layer_parameters,
)

FSDP2 = "torch 2.11, distributed/fsdp/_fully_shard; checked on the fake-group runs 44 to 49 of measurements/h200"

communication_buffers = given(
    "NCCL and other buffers outside the caching allocator", byte, per="process", tex="C_n", default=0,
    source="not counted unless a scenario states it; verl 0.9.1 on one H200: about 400 MiB beside the CUDA context",
)

# --- DistributedDataParallel ---

is_replicated = all_of(is_trained, is_word(sharding, "ddp"), data_parallel_size > 1)
gradient_buckets = define(
    when(is_replicated, gradients),
    "Buckets of the gradient reduction", byte, tex="M_{g,b}",
    source="torch 2.11, nn/parallel/distributed.py: with gradient_as_bucket_view=False as large as the gradients",
    note="first cut",
)
buckets_unchecked = caution(
    is_replicated,
    "data parallelism without sharding (ddp) is a first cut, not yet compared with a measurement",
    source="no record in measurements/",
)

# --- FSDP: every layer is a group of parameters; embedding, output layer and final norm are the root group ---

is_gathered = all_of(is_sharded, data_parallel_size > 1)
root_parameters = define(
    embedding_on_rank + output_on_rank - replaced_parameters,
    "Parameters of the root group", parameters, tex="P_u", source=FSDP2,
)
gathered_layer = define(
    when(is_gathered, bf16 * (layer_parameters_on_rank + when(is_lora, layer_lora_parameters))),
    "One layer, gathered", byte, tex="U", source=FSDP2,
)
gathered_root = define(when(is_gathered, bf16 * root_parameters), "Root group, gathered", byte, tex="U_r", source=FSDP2)
gathered_in_inference = define(
    gathered_root + 2 * gathered_layer,
    "Gathered at once without gradients", byte, tex="U_i",
    source=f"{FSDP2}: the root and two layers, one of them prefetched",
)
gathered_at_loss = define(
    gathered_root + gathered_layer,
    "Gathered at the loss", byte, tex="U_e",
    source=f"{FSDP2}: the root stays gathered, the last layer's buffer is still held",
)
gathered_in_forward = define(
    gathered_root + 3 * gathered_layer,
    "Gathered at once in forward", byte, tex="U_f",
    source=f"{FSDP2}: the previous buffer, the new one, and the parameters copied out of it",
)
gathered_in_backward = define(
    gathered_root + 2 * gathered_layer,
    "Gathered at once in backward", byte, tex="U_b",
    source=f"{FSDP2}: the layer's own parameters and the next layer's, prefetched",
)
reduced_layer = define(
    when(is_gathered, fp32 * trained_layer_parameters),
    "Reduce-scatter input of one layer", byte, tex="U_{s}", source=f"{FSDP2}: fp32, the previous layer's is in flight",
)
reduced_root = define(
    when(all_of(is_gathered, is_full), (bf16 + fp32) * root_parameters),
    "Gradients of the root group, in reduction", byte, tex="U_{s,r}",
    source=f"{FSDP2}: bf16 gradients beside the fp32 input of their reduce-scatter",
)
gathered_unchecked = caution(
    is_gathered,
    "FSDP is compared with one rank of a fake process group only: NCCL (communication_buffers) is not measured",
    source="runs 44 to 49 of measurements/h200; there the allocator kept 1.06 to 1.43 times what was allocated",
)
