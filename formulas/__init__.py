"""What we know: one file is one chapter, one sheet, one section of the report."""

CHAPTERS = (
    "model",
    "states",
    "communication",
    "activations",
    "moments",
    "logits",
    "kv_cache",
    "rollout",
    "phases",
    "runtime",
    "timeline",
    "fit",
)
