"""The lines that measurements/h200/measure.py writes, and what each of its configurations is in our words."""

from typing import Annotated, Literal

import pydantic

from .record import SCHEDULE

ONE_GPU = {"data_parallel_size": "1", "tensor_parallel_size": "1", "pipeline_parallel_size": "1"}


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("needs a text without control characters")
    return text


Word = Annotated[str, pydantic.Field(min_length=1, max_length=100), pydantic.AfterValidator(_printable)]
Line = Annotated[str, pydantic.Field(max_length=400), pydantic.AfterValidator(_printable)]
Bytes = Annotated[int, pydantic.Field(ge=0, le=10**15)]
Measured = Annotated[int, pydantic.Field(ge=1, le=10**15)]
Count = Annotated[int, pydantic.Field(ge=1, le=10**9)]


class _Shape(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Environment(_Shape):
    """What all runs below it share. `total` is what CUDA can allocate, in bytes."""

    kind: Literal["environment"]
    torch: Word
    transformers: Word
    peft: Word
    gpu: Word
    total: Measured
    used_before: Bytes
    context: Bytes
    alloc_conf: Line


class Phase(_Shape):
    """Bytes at the start, at the end and at the highest moment of a phase; `device_used` is the value at its end."""

    phase: Word
    before_allocated: Bytes
    allocated: Bytes
    max_allocated: Measured
    reserved: Measured
    max_reserved: Measured
    device_used: Measured
    requested_peak: Bytes
    seconds: float


class _Config(_Shape):
    """What all kinds of runs have: a model and its attention, the batch, and perhaps a limit to the process's memory."""

    model: Word
    attn: Literal["sdpa", "eager"]
    bs: Count
    layers: Count | None = None
    cap_gib: float | None = None

    def title(self) -> str:
        """One line that tells the runs of a file apart."""
        raise NotImplementedError

    def settings(self) -> dict[str, str]:
        """The configuration in the words of a scenario file."""
        shape = {"number_of_layers": str(self.layers)} if self.layers else {}
        return {"model": self.model, **shape, "attention": self.attn, "batch_size": str(self.bs)}

    def notes(self) -> list[str]:
        return []


class _Adapters(_Shape):
    rank: Count | None = None
    targets: Literal["all-linear"] | list[Word] = "all-linear"

    def adapter_settings(self, precision: str) -> dict[str, str]:
        targets = self.targets if isinstance(self.targets, str) else ", ".join(self.targets)
        return {"lora_rank": str(self.rank), "lora_targets": targets, "adapter_precision": precision}


class _Training(_Config, _Adapters):
    ckpt: bool
    method: Literal["full", "lora"]
    seq: Count

    @pydantic.model_validator(mode="after")
    def _lora_has_a_rank(self) -> "_Training":
        if self.method == "lora" and self.rank is None:
            raise ValueError("lora needs a rank")
        return self

    def settings(self) -> dict[str, str]:
        return super().settings() | {
            SCHEDULE: "training",
            "method": self.method,
            "loss": "cross_entropy",
            "master_weights": "no",
            "checkpointing": "full" if self.ckpt else "none",
            "micro_batch_size": str(self.bs),
            "sequence_length": str(self.seq),
        }

    def shown(self) -> str:
        method = f"LoRA rank {self.rank}" if self.method == "lora" else "full fine-tuning"
        return f"{self.model}, {method}, {self.bs} x {self.seq} tokens{', checkpointing' if self.ckpt else ''}"


class Sft(_Training):
    """Two training steps on one GPU."""

    dtype: Literal["bf16", "fp32", "amp"]
    foreach: bool = True
    optim: Literal["adamw", "sgd"] = "adamw"

    def title(self) -> str:
        return f"Training on one GPU: {self.shown()}, {self.dtype}"

    def settings(self) -> dict[str, str]:
        return (
            super().settings()
            | ONE_GPU
            | {"precision": self.dtype, "optimizer": self.optim, "foreach": "yes" if self.foreach else "no"}
            | (self.adapter_settings("fp32") if self.method == "lora" else {})
        )


class Fsdp(_Training):
    """Two training steps of one rank of `world` under FSDP2."""

    model_dtype: Literal["fp32", "bf16"]
    world: Count

    def title(self) -> str:
        return f"Training, one of {self.world} FSDP ranks: {self.shown()}, {self.model_dtype} shards"

    def settings(self) -> dict[str, str]:
        return (
            super().settings()
            | ONE_GPU
            | {"data_parallel_size": str(self.world), "sharding": "zero_3", "optimizer": "adamw", "foreach": "yes"}
            | {"precision": "bf16" if self.model_dtype == "bf16" else "mixed"}
            | (self.adapter_settings("bf16") if self.method == "lora" else {})
        )

    def notes(self) -> list[str]:
        return ["One rank over a fake process group: collectives move nothing and NCCL's buffers are not in the figures."]


class Generate(_Config):
    """Plain Hugging Face generation of `new` tokens after a prompt."""

    prompt: Count
    new: Count

    def title(self) -> str:
        return f"Generation on one GPU: {self.model}, {self.bs} x ({self.prompt} + {self.new}) tokens"

    def settings(self) -> dict[str, str]:
        return super().settings() | ONE_GPU | {
            SCHEDULE: "inference",
            "method": "frozen",
            "precision": "bf16",
            "sequence_length": str(self.prompt + self.new),
            "response_length": str(self.new),
        }  # fmt: skip


class Ppo(Generate, _Adapters):
    """One iteration of PPO in one process: one frozen base, an actor's and a critic's adapter."""

    rank: Count
    micro: Count
    ckpt: bool
    upcast: bool

    def title(self) -> str:
        tokens = f"{self.bs} x ({self.prompt} + {self.new}) tokens, {self.micro} at a time"
        return f"PPO on one GPU: {self.model}, LoRA rank {self.rank}, {tokens}{', checkpointing' if self.ckpt else ''}"

    def settings(self) -> dict[str, str]:
        return super().settings() | self.adapter_settings("fp32") | {
            SCHEDULE: "ppo_hugging_face",
            "method": "lora",
            "loss": "policy",
            "master_weights": "no",
            "optimizer": "adamw",
            "foreach": "yes",
            "actor.output_head": "language_model",
            "critic.output_head": "value",
            "micro_batch_size": str(self.micro),
            "scoring_batch_size": str(self.bs),
            "checkpointing": "full" if self.ckpt else "none",
            "log_prob_precision": "fp32" if self.upcast else "bf16",
            "log_prob_padded": "response",
        }  # fmt: skip


class _Run(_Shape):
    group: Word
    baseline_used: Bytes
    baseline_allocated: Bytes
    params: Measured | None = None
    trainable: Bytes | dict[Word, Bytes] | None = None
    trainable_bytes: Bytes | None = None
    status: Literal["ok", "oom", "error"]
    error: str = ""
    phases: list[Phase]


class SftRun(_Run):
    kind: Literal["sft"]
    config: Sft


class FsdpRun(_Run):
    kind: Literal["fsdp_rank"]
    config: Fsdp


class GenerateRun(_Run):
    kind: Literal["generate"]
    config: Generate


class PpoRun(_Run):
    kind: Literal["ppo_lora"]
    config: Ppo


Run = SftRun | FsdpRun | GenerateRun | PpoRun

line_adapter: pydantic.TypeAdapter[Environment | Run] = pydantic.TypeAdapter(
    Annotated[Environment | SftRun | FsdpRun | GenerateRun | PpoRun, pydantic.Field(discriminator="kind")]
)
