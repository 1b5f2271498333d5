# ruff: noqa
# As it ran; not restyled, so that the records stay what this file made.
"""Ground truth: real GPU memory of LLM training and generation phases, one JSON record a config.

usage: python measure.py OUT.jsonl GROUP [GROUP ...] [--limit-s N]
Weights are random: memory does not depend on their values.
"""
import gc, json, os, sys, time, contextlib, traceback
import torch, transformers, peft
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config, Qwen3Config, Qwen3MoeConfig, MistralConfig

MODELS = {
    "qwen2.5-0.5b": Qwen2Config(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14, num_key_value_heads=2, vocab_size=151936, tie_word_embeddings=True, max_position_embeddings=32768),
    "qwen2.5-1.5b": Qwen2Config(hidden_size=1536, intermediate_size=8960, num_hidden_layers=28, num_attention_heads=12, num_key_value_heads=2, vocab_size=151936, tie_word_embeddings=True, max_position_embeddings=32768),
    "qwen2.5-7b": Qwen2Config(hidden_size=3584, intermediate_size=18944, num_hidden_layers=28, num_attention_heads=28, num_key_value_heads=4, vocab_size=152064, tie_word_embeddings=False, max_position_embeddings=32768),
    "llama-3.2-1b": LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, head_dim=64, vocab_size=128256, tie_word_embeddings=True, max_position_embeddings=131072),
    "llama-3.2-3b": LlamaConfig(hidden_size=3072, intermediate_size=8192, num_hidden_layers=28, num_attention_heads=24, num_key_value_heads=8, head_dim=128, vocab_size=128256, tie_word_embeddings=True, max_position_embeddings=131072),
    "llama-3.1-8b": LlamaConfig(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256, tie_word_embeddings=False, max_position_embeddings=131072),
    "llama-7b": LlamaConfig(hidden_size=4096, intermediate_size=11008, num_hidden_layers=32, num_attention_heads=32, num_key_value_heads=32, vocab_size=32000, tie_word_embeddings=False, max_position_embeddings=4096),
    "llama-13b": LlamaConfig(hidden_size=5120, intermediate_size=13824, num_hidden_layers=40, num_attention_heads=40, num_key_value_heads=40, vocab_size=32000, tie_word_embeddings=False, max_position_embeddings=4096),
    "llama-70b": LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers=80, num_attention_heads=64, num_key_value_heads=8, vocab_size=32000, tie_word_embeddings=False, max_position_embeddings=4096),
    "qwen3-4b": Qwen3Config(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32, num_key_value_heads=8, head_dim=128, vocab_size=151936, tie_word_embeddings=True, max_position_embeddings=40960),
}
GiB = 2**30
torch.backends.cuda.matmul.allow_tf32 = True

def nvml_used():
    free, total = torch.cuda.mem_get_info()
    return total - free

class Tracker:
    def __init__(self): self.phases = []
    @contextlib.contextmanager
    def phase(self, name):
        torch.cuda.synchronize(); torch.cuda.reset_peak_memory_stats()
        a0 = torch.cuda.memory_allocated(); t = time.time()
        try:
            yield
        finally:
            torch.cuda.synchronize()
            s = torch.cuda.memory_stats()
            self.phases.append(dict(phase=name, before_allocated=a0, allocated=torch.cuda.memory_allocated(),
                max_allocated=torch.cuda.max_memory_allocated(), reserved=torch.cuda.memory_reserved(),
                max_reserved=torch.cuda.max_memory_reserved(), device_used=nvml_used(),
                requested_peak=s.get("requested_bytes.all.peak", 0), seconds=round(time.time()-t, 3)))

def clear():
    gc.collect(); torch.cuda.empty_cache(); torch.cuda.reset_peak_memory_stats()

def build(name, dtype, attn, device="cuda", layers=None):
    cfg = type(MODELS[name])(**MODELS[name].to_dict())
    if layers: cfg.num_hidden_layers = layers
    cfg._attn_implementation = attn
    old = torch.get_default_dtype(); torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            m = AutoModelForCausalLM.from_config(cfg, attn_implementation=attn)
    finally:
        torch.set_default_dtype(old)
    return m.to(dtype) if device != "meta" else m

def lora(m, rank, targets):
    return peft.get_peft_model(m, peft.LoraConfig(r=rank, lora_alpha=2*rank, target_modules=targets, task_type="CAUSAL_LM", lora_dropout=0.0))

ALL = ["q_proj","k_proj","v_proj","o_proj","gate_proj","up_proj","down_proj"]

def sft(rec, t):
    """One or two training steps; bs x seq tokens, no padding, HF loss."""
    c = rec["config"]
    dtype = dict(bf16=torch.bfloat16, fp32=torch.float32, amp=torch.float32)[c["dtype"]]
    with t.phase("load"):
        m = build(c["model"], dtype, c["attn"], layers=c.get("layers"))
        if c["method"] == "lora": m = lora(m, c["rank"], c.get("targets", "all-linear"))
        if c["ckpt"]:
            m.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
            if c["method"] == "lora": m.enable_input_require_grads()
        m.train()
    rec["params"] = sum(p.numel() for p in m.parameters()); ps = [p for p in m.parameters() if p.requires_grad]
    rec["trainable"] = sum(p.numel() for p in ps); rec["trainable_bytes"] = sum(p.numel()*p.element_size() for p in ps)
    opt = torch.optim.AdamW(ps, lr=1e-5, foreach=c.get("foreach", True)) if c.get("optim", "adamw") == "adamw" else torch.optim.SGD(ps, lr=1e-5)
    ids = torch.randint(0, 30000, (c["bs"], c["seq"]), device="cuda")
    for step in (1, 2):
        ac = torch.autocast("cuda", torch.bfloat16) if c["dtype"] == "amp" else contextlib.nullcontext()
        with t.phase(f"forward{step}"):
            with ac: out = m(input_ids=ids, labels=ids, use_cache=False); loss = out.loss
        del out
        with t.phase(f"backward{step}"): loss.backward()
        del loss
        with t.phase(f"step{step}"): opt.step()
        with t.phase(f"zero{step}"): opt.zero_grad(set_to_none=True)
    with t.phase("end"): torch.cuda.empty_cache()

def generate(rec, t):
    c = rec["config"]
    with t.phase("load"): m = build(c["model"], torch.bfloat16, c["attn"], layers=c.get("layers")).eval()
    rec["params"] = sum(p.numel() for p in m.parameters())
    ids = torch.randint(0, 30000, (c["bs"], c["prompt"]), device="cuda")
    with t.phase("prefill"), torch.no_grad():
        out = m(input_ids=ids, use_cache=True, logits_to_keep=1); pkv = out.past_key_values; nxt = out.logits[:, -1:].argmax(-1)
    with t.phase("decode"), torch.no_grad():
        for _ in range(c["new"] - 1):
            out = m(input_ids=nxt, past_key_values=pkv, use_cache=True, logits_to_keep=1); pkv = out.past_key_values; nxt = out.logits[:, -1:].argmax(-1)
    del out
    with t.phase("end"): torch.cuda.empty_cache()

def ppo_lora(rec, t):
    """The report's phases: load, tokenise, actor generates, critic scores, LoRA update, end. One base, two adapters."""
    c = rec["config"]
    with t.phase("load"):
        m = build(c["model"], torch.bfloat16, c["attn"])
    with t.phase("adapters"):
        m = lora(m, c["rank"], c.get("targets", "all-linear"))
        m.add_adapter("critic", peft.LoraConfig(r=c["rank"], lora_alpha=2*c["rank"], target_modules=c.get("targets", "all-linear"), task_type="CAUSAL_LM"))
        head = torch.nn.Linear(m.config.hidden_size, 1, bias=False, device="cuda", dtype=torch.float32)
    with t.phase("tokenise"):
        ids = torch.randint(0, 30000, (c["bs"], c["prompt"]), device="cuda")
    m.set_adapter("default"); m.eval()
    with t.phase("generate"), torch.no_grad():
        out = m(input_ids=ids, use_cache=True, logits_to_keep=1); pkv = out.past_key_values; seq = [ids]; nxt = out.logits[:, -1:].argmax(-1)
        for _ in range(c["new"] - 1):
            seq.append(nxt); out = m(input_ids=nxt, past_key_values=pkv, use_cache=True, logits_to_keep=1); pkv = out.past_key_values; nxt = out.logits[:, -1:].argmax(-1)
        seq.append(nxt); full = torch.cat(seq, 1)
        del out, pkv, seq
    R = c["new"]
    def logp(logits, ids, upcast):
        lg = logits[:, -R-1:-1]
        if upcast: lg = lg.float()
        return torch.log_softmax(lg, -1).gather(-1, ids[:, -R:, None]).squeeze(-1)
    with t.phase("old_log_prob"), torch.no_grad():
        old = logp(m(input_ids=full, use_cache=False).logits, full, c["upcast"])
    with t.phase("ref_log_prob"), torch.no_grad(), m.disable_adapter():
        ref = logp(m(input_ids=full, use_cache=False).logits, full, c["upcast"])
    m.set_adapter("critic")
    with t.phase("critic_score"), torch.no_grad():
        h = m.base_model.model.model(input_ids=full, use_cache=False).last_hidden_state
        val = head(h.float())[..., 0][:, -R:]
    del h
    def step(name, params, fwd):
        ps = [p for p in params if p.requires_grad]; rec.setdefault("trainable", {})[name] = sum(p.numel() for p in ps)
        opt = torch.optim.AdamW(ps, lr=1e-6); mb = c["micro"]
        with t.phase(name):
            for i in range(0, c["bs"], mb): (fwd(full[i:i+mb], i, mb) / (c["bs"]//mb)).backward()
            opt.step(); opt.zero_grad(set_to_none=True)
        return opt
    m.train()
    if c["ckpt"]:
        m.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False)); m.enable_input_require_grads()
    def closs(x, i, mb):
        h = m.base_model.model.model(input_ids=x, use_cache=False).last_hidden_state
        return (head(h.float())[..., 0][:, -R:] - val[i:i+mb]).pow(2).mean()
    m.set_adapter("critic")
    o1 = step("critic_update", [p for n, p in m.named_parameters() if "critic" in n] + list(head.parameters()), closs)
    m.set_adapter("default")
    def aloss(x, i, mb):
        lp = logp(m(input_ids=x, use_cache=False).logits, x, c["upcast"]); r = (lp - old[i:i+mb]).exp()
        return -(torch.min(r, r.clamp(.8, 1.2))).mean() + 0.01*(lp - ref[i:i+mb]).pow(2).mean()
    o2 = step("actor_update", [p for n, p in m.named_parameters() if "default" in n], aloss)
    with t.phase("end"): torch.cuda.empty_cache()
    rec["params"] = sum(p.numel() for p in m.parameters())

def fsdp_rank(rec, t):
    """Rank 0 of a world of N: FSDP2 over a fake process group; the memory is real, the collectives move nothing."""
    import torch.distributed as dist
    from torch.testing._internal.distributed.fake_pg import FakeStore
    from torch.distributed.fsdp import fully_shard, MixedPrecisionPolicy
    from torch.distributed.device_mesh import init_device_mesh
    c = rec["config"]
    if dist.is_initialized(): dist.destroy_process_group()
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=c["world"])
    mesh = init_device_mesh("cuda", (c["world"],))
    cls = {"fp32": torch.float32, "bf16": torch.bfloat16}[c["model_dtype"]]
    with t.phase("load"):
        m = build(c["model"], cls, c["attn"], device="meta", layers=c.get("layers"))
        if c["method"] == "lora": m = lora(m, c["rank"], c.get("targets", "all-linear")); m = m.to(cls)
        rec["params"] = sum(p.numel() for p in m.parameters()); rec["trainable"] = sum(p.numel() for p in m.parameters() if p.requires_grad)
        if c["ckpt"]:
            m.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
            if c["method"] == "lora": m.enable_input_require_grads()
        core = m.base_model.model.model if c["method"] == "lora" else m.model
        mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for l in core.layers: fully_shard(l, mesh=mesh, mp_policy=mp, reshard_after_forward=True)
        fully_shard(m, mesh=mesh, mp_policy=mp, reshard_after_forward=True)
        m.to_empty(device="cuda")
        with torch.no_grad():
            for p in m.parameters(): p.normal_(0, .02)
            for b in m.buffers(): b.fill_(0.5)
        m.train()
    ps = [p for p in m.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(ps, lr=1e-6)
    ids = torch.randint(0, 30000, (c["bs"], c["seq"]), device="cuda")
    for step in (1, 2):
        with t.phase(f"forward{step}"): out = m(input_ids=ids, labels=ids, use_cache=False); loss = out.loss
        del out
        with t.phase(f"backward{step}"): loss.backward()
        del loss
        with t.phase(f"step{step}"): opt.step()
        with t.phase(f"zero{step}"): opt.zero_grad(set_to_none=True)
    with t.phase("end"): torch.cuda.empty_cache()
    dist.destroy_process_group()

def grid(kind, base, **axes):
    import itertools
    keys = list(axes)
    return [dict(kind=kind, config=dict(base, **dict(zip(keys, v)))) for v in itertools.product(*axes.values())]

S = dict(dtype="bf16", attn="sdpa", ckpt=False, method="full", bs=2, seq=1024)
L = dict(S, method="lora", rank=16)
P = dict(model="llama-7b", attn="sdpa", rank=64, bs=8, prompt=512, new=512, micro=8, ckpt=True, upcast=True)
F = dict(attn="sdpa", method="full", model_dtype="fp32", ckpt=True, bs=4, seq=2048)
GROUPS = {
  "smoke": grid("sft", dict(S, model="qwen2.5-0.5b"), bs=[1, 2]) + grid("generate", dict(model="llama-3.2-1b", attn="sdpa", bs=4, prompt=256, new=16))
           + grid("ppo_lora", dict(P, model="llama-3.2-1b", bs=4, micro=4, prompt=128, new=64)) + grid("fsdp_rank", dict(F, model="llama-3.2-1b", world=8, bs=1)),
  "sft_small": grid("sft", S, model=["qwen2.5-0.5b", "llama-3.2-1b"], ckpt=[False, True], bs=[1, 4], seq=[512, 2048])
           + grid("sft", dict(S, model="llama-3.2-1b"), attn=["eager"], ckpt=[False, True], seq=[1024, 2048])
           + grid("sft", dict(S, model="llama-3.2-1b"), dtype=["amp", "fp32"], ckpt=[False, True])
           + grid("sft", dict(S, model="llama-3.2-1b"), foreach=[False]) + grid("sft", dict(S, model="llama-3.2-1b"), optim=["sgd"]),
  "sft_lora": grid("sft", L, model=["llama-3.2-3b", "llama-7b", "qwen2.5-7b"], ckpt=[False, True], bs=[1, 4], seq=[1024])
           + grid("sft", dict(L, model="llama-3.1-8b"), rank=[8, 64], ckpt=[False, True], seq=[2048])
           + grid("sft", dict(L, model="llama-3.1-8b", targets=["q_proj", "v_proj"]), ckpt=[False, True], seq=[2048]),
  "sft_big": grid("sft", S, model=["llama-7b", "llama-3.1-8b"], ckpt=[False, True], bs=[1], seq=[2048]) + grid("sft", dict(S, model="qwen3-4b"), ckpt=[False, True], bs=[2], seq=[4096])
           + grid("sft", dict(S, model="llama-3.2-3b", dtype="amp"), ckpt=[True, False], bs=[4], seq=[2048]),
  "gen": grid("generate", dict(attn="sdpa", new=64), model=["llama-7b", "llama-3.1-8b", "qwen2.5-7b"], bs=[1, 16], prompt=[1024, 4032]),
  "ppo": grid("ppo_lora", P, ckpt=[True, False]) + grid("ppo_lora", dict(P, micro=2), upcast=[True, False]) + grid("ppo_lora", dict(P, model="llama-3.1-8b", micro=4), rank=[16]) + grid("ppo_lora", dict(P, model="qwen2.5-7b", micro=4), rank=[32]),
  "fsdp": grid("fsdp_rank", F, model=["llama-7b"], world=[2, 8, 32], ckpt=[True, False]) + grid("fsdp_rank", dict(F, model="llama-13b"), world=[2, 8])
          + grid("fsdp_rank", dict(F, model="llama-13b", method="lora", rank=64, model_dtype="bf16"), world=[2, 4])
          + grid("fsdp_rank", dict(F, model="llama-70b", bs=1, seq=4096), world=[32, 64]) + grid("fsdp_rank", dict(F, model="llama-70b", bs=1, seq=4096, method="lora", rank=64, model_dtype="bf16"), world=[8, 32]),
}

C24 = dict(L, model="llama-7b", rank=64, cap_gib=22.0, ckpt=True, seq=1024)
GROUPS["fit"] = grid("sft", C24, bs=[4, 6, 8, 10, 12, 16, 20, 24]) + grid("sft", dict(C24, ckpt=False), bs=[1, 2, 3, 4]) \
    + grid("sft", dict(S, model="llama-3.2-1b", cap_gib=15.0, ckpt=True, seq=1024), bs=[2, 4, 6, 8, 10]) + grid("sft", dict(S, model="llama-3.2-3b", cap_gib=39.0, ckpt=False, seq=2048), bs=[1, 2, 3, 4])

def fixtures(out):
    """What a user would bring: a memory snapshot, memory_summary text, an out-of-memory message."""
    clear(); torch.cuda.memory._record_memory_history(max_entries=20000)
    t = Tracker(); rec = dict(config=dict(S, model="qwen2.5-0.5b", bs=1, seq=512, layers=4)); sft(rec, t)
    torch.cuda.memory._dump_snapshot(out+"/snapshot.pickle"); torch.cuda.memory._record_memory_history(enabled=None)
    open(out+"/memory_summary.txt", "w").write(torch.cuda.memory_summary())
    json.dump({k: v for k, v in torch.cuda.memory_stats().items()}, open(out+"/memory_stats.json", "w"), indent=1)
    open(out+"/snapshot_truth.json", "w").write(json.dumps(dict(rec, phases=t.phases)))

def main():
    if sys.argv[2] == "fixtures": return fixtures(sys.argv[1])
    out, args = sys.argv[1], sys.argv[2:]
    limit = 540
    if "--limit-s" in args: i = args.index("--limit-s"); limit = int(args[i+1]); del args[i:i+2]
    t0 = time.time()
    before = nvml_used(); torch.zeros(1, device="cuda"); torch.cuda.synchronize()
    head = dict(kind="environment", torch=torch.__version__, transformers=transformers.__version__, peft=peft.__version__, gpu=torch.cuda.get_device_name(), total=torch.cuda.get_device_properties(0).total_memory,
                used_before=before, context=nvml_used()-torch.cuda.memory_reserved(), alloc_conf=os.environ.get("PYTORCH_CUDA_ALLOC_CONF", ""))
    f = open(out, "a"); f.write(json.dumps(head)+"\n")
    for g in args:
        for rec in GROUPS[g]:
            if time.time() - t0 > limit: print("time limit before", rec); return
            clear(); t = Tracker(); rec["group"] = g
            cap = rec["config"].get("cap_gib"); total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(cap*GiB/total if cap else 1.0)
            rec["baseline_used"] = nvml_used(); rec["baseline_allocated"] = torch.cuda.memory_allocated()
            try: globals()[rec["kind"]](rec, t); rec["status"] = "ok"
            except torch.cuda.OutOfMemoryError as e: rec["status"] = "oom"; rec["error"] = str(e)
            except Exception as e: rec["status"] = "error"; rec["error"] = traceback.format_exc()[-1500:]; print(rec["error"])
            rec["phases"] = t.phases
            f.write(json.dumps(rec)+"\n"); f.flush()
            print(g, rec["kind"], rec["status"], {k: v for k, v in rec["config"].items() if k not in ("attn",)}, "peak %.2f" % (max([p["max_allocated"] for p in t.phases] or [0])/GiB), "%.0fs" % (time.time()-t0), flush=True)
main()
