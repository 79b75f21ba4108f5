#!/usr/bin/env python3
"""Training steps and fused attention of the PyTorch that is installed, as rows of
smsim-measure: truth that smsim did not write.

    pytorch_step.py --out FILE [--only bert-large,gpt2-xl,llama-7b-8-layers] [--steps 20]
                    [--budget SECONDS]

Models are those of transformers where it is installed (made from their configuration,
nothing is fetched), else stacks of torch's own modules of the same sizes. Each is run
eagerly and through torch.compile, in bf16 autocast over fp32 weights; --precisions tf32
adds fp32 with products in TF32.
A step that fails (out of memory, no compiler, a loss that is no number) is recorded with
its error; what the time does not reach is left out, and a step (or its compiler) that is
still at it 10 s after the budget is given up. A file that is there already is gone on with: steps that it has
are not run again.
"""
import argparse
import datetime
import gc
import json
import math
import os
import signal
import statistics
import time

import torch

MODELS = {
    "bert-large": dict(kind="bert", hidden=1024, layers=24, heads=16, ffn=4096, vocab=30522,
                       sequence=384, batches=(4, 16, 32)),
    "gpt2-xl": dict(kind="gpt2", hidden=1600, layers=48, heads=25, ffn=6400, vocab=50257,
                    sequence=1024, batches=(2, 8)),
    "llama-7b-8-layers": dict(kind="llama", hidden=4096, layers=8, heads=32, ffn=11008,
                              vocab=32000, sequence=2048, batches=(2, 8)),
}


SETTLE_S = 2.0  # of steps before any is timed: clocks are those of long work then
GRACE_S = 10.0  # after the budget, until what is under way is given up


def config_of(m):
    """The sizes as a config.json has them, so that the row needs no other file."""
    if m["kind"] == "gpt2":
        return dict(model_type="gpt2", n_embd=m["hidden"], n_layer=m["layers"],
                    n_head=m["heads"], n_inner=m["ffn"], vocab_size=m["vocab"],
                    n_positions=m["sequence"])
    config = dict(model_type=m["kind"], hidden_size=m["hidden"],
                  num_hidden_layers=m["layers"], num_attention_heads=m["heads"],
                  intermediate_size=m["ffn"], vocab_size=m["vocab"])
    if m["kind"] == "bert":
        config.update(max_position_embeddings=512, type_vocab_size=2)
    else:
        config.update(tie_word_embeddings=False)
    return config


class Plain(torch.nn.Module):
    """About the same sizes in torch's own modules, for machines without transformers."""

    def __init__(self, m):
        super().__init__()
        self.words = torch.nn.Embedding(m["vocab"], m["hidden"])
        self.causal = m["kind"] != "bert"
        layer = torch.nn.TransformerEncoderLayer(
            m["hidden"], m["heads"], m["ffn"], dropout=0.1, activation="gelu",
            batch_first=True, norm_first=self.causal)
        self.layers = torch.nn.TransformerEncoder(layer, m["layers"])
        self.head = torch.nn.Linear(m["hidden"], m["vocab"], bias=False)

    def forward(self, input_ids, labels):
        mask = None
        if self.causal:
            mask = torch.nn.Transformer.generate_square_subsequent_mask(
                input_ids.shape[1], device=input_ids.device)
        x = self.layers(self.words(input_ids), mask=mask, is_causal=self.causal)
        logits = self.head(x)
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(),
                                                 labels.flatten())


def transformers_model(m):
    """As trainers make it: without the cache of keys and values that generation wants."""
    import transformers as tf
    if m["kind"] == "bert":
        config = tf.BertConfig(hidden_size=m["hidden"], num_hidden_layers=m["layers"],
                               num_attention_heads=m["heads"], vocab_size=m["vocab"],
                               intermediate_size=m["ffn"])
        return tf.BertForMaskedLM(config)
    if m["kind"] == "gpt2":
        config = tf.GPT2Config(n_embd=m["hidden"], n_layer=m["layers"], n_head=m["heads"],
                               vocab_size=m["vocab"], n_positions=m["sequence"],
                               use_cache=False)
        return tf.GPT2LMHeadModel(config)
    config = tf.LlamaConfig(hidden_size=m["hidden"], num_hidden_layers=m["layers"],
                            num_attention_heads=m["heads"], vocab_size=m["vocab"],
                            intermediate_size=m["ffn"],
                            max_position_embeddings=m["sequence"], use_cache=False)
    return tf.LlamaForCausalLM(config)


def make_model(m):
    """The model, the library it is from, and how it computes attention."""
    try:
        model = transformers_model(m)
    except ImportError:
        return Plain(m), "torch.nn", "flash"
    kind = getattr(model.config, "_attn_implementation", "eager")
    return model, "transformers", "unfused" if kind == "eager" else "flash"


def loss_of(out):
    return out if torch.is_tensor(out) else out.loss


def timed(step):
    """Seconds of one step, and its loss."""
    torch.cuda.synchronize()
    begun = time.perf_counter()
    loss = step()
    torch.cuda.synchronize()
    return time.perf_counter() - begun, loss


def time_step(m, batch, mode, precision, steps):
    with torch.device("cuda"):  # random weights of 2 billion take the host half a minute
        model, library, attention = make_model(m)
    model.train()
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    parameters = sum(p.numel() for p in model.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model) if mode == "compiled" else model
    ids = torch.randint(m["vocab"], (batch, m["sequence"]), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=precision == "amp_bf16"):
            loss = loss_of(run(input_ids=ids, labels=ids))
        loss.backward()
        optimizer.step()
        return loss.detach()

    first = float(step())
    for _ in range(2):
        once, loss = timed(step)
    torch.cuda.reset_peak_memory_stats()
    for _ in range(min(int(SETTLE_S / once), 200)):
        timed(step)
    times = []
    for _ in range(steps):
        took, loss = timed(step)
        times.append(took)
    last = float(loss)
    if not (math.isfinite(first) and math.isfinite(last)):
        raise FloatingPointError(f"the loss is {first} at first, {last} at last")
    quarter = sorted(times)
    median = statistics.median(times)
    return dict(library=library, attention=attention, parameters=parameters,
                time_s=median,
                spread=(quarter[3 * len(times) // 4] - quarter[len(times) // 4]) / median,
                repetitions=steps, loss_first=first, loss_last=last,
                allocated_bytes=torch.cuda.max_memory_allocated(),
                reserved_bytes=torch.cuda.max_memory_reserved())


class OutOfTime(BaseException):
    """No Exception, so that nothing takes it for a failure of the step."""


def end_after(seconds):
    """Raises OutOfTime in so many seconds."""
    def ring(number, frame):
        raise OutOfTime
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def forget():
    """Gives back what the last step held, a failed one too."""
    gc.collect()
    if hasattr(torch, "compiler") and hasattr(torch.compiler, "reset"):
        torch.compiler.reset()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def time_call(call):
    """Median seconds of a call, by events over groups of ten."""
    for _ in range(3):
        call()
    times = []
    for _ in range(9):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        call()
        begin.record()
        for _ in range(10):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e-4)
    return statistics.median(times)


def flash_rows(out, until):
    """Fused attention of the library, forward and backward."""
    attend = torch.nn.functional.scaled_dot_product_attention
    if any(row["kind"] == "flash" for row in out.tree["rows"]):
        return
    for length in (512, 1024, 2048, 4096, 8192):
        for d in (64, 128):
            for causal in (False, True):
                if time.monotonic() > until:
                    return
                heads = max(32, 65536 // length)
                q, k, v = (torch.randn(1, heads, length, d, device="cuda",
                                       dtype=torch.bfloat16, requires_grad=True)
                           for _ in range(3))
                row = dict(kind="flash", device=0, dtype="bf16", queries=length, keys=length,
                           head_dim=d, heads=heads, causal=causal, library=True)
                try:
                    y = attend(q, k, v, is_causal=causal)
                    dy = torch.randn_like(y)
                    forward = time_call(lambda: attend(q, k, v, is_causal=causal))
                    back = time_call(lambda: torch.autograd.grad(y, (q, k, v), dy,
                                                                 retain_graph=True))
                    out.add(dict(row, backward=False, time_s=forward))
                    out.add(dict(row, backward=True, time_s=back))
                except RuntimeError as error:
                    out.add(dict(row, backward=False, error=first_line(error)))


def first_line(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


class Output:
    """The file, whole after every row."""

    def __init__(self, path):
        p = torch.cuda.get_device_properties(0)
        self.path = path
        self.tree = dict(
            format="smsim-measure", version=1, complete=False,
            date=datetime.date.today().isoformat(), torch=torch.__version__,
            cuda=torch.version.cuda,
            devices=[dict(index=0, name=p.name, sm_arch=10 * p.major + p.minor,
                          sms=p.multi_processor_count, memory_bytes=p.total_memory,
                          l2_bytes=getattr(p, "L2_cache_size", 1 << 20))],
            rows=[])

        self.go_on()

    def go_on(self):
        """Takes over what an earlier run on such a GPU wrote."""
        try:
            with open(self.path) as file:
                old = json.load(file)
            if old["devices"][0]["name"] == self.tree["devices"][0]["name"]:
                self.tree["rows"] = old["rows"]
        except (OSError, ValueError, KeyError, IndexError):
            pass

    def has(self, row):
        return any(all(old.get(key) == row[key] for key in row)
                   for old in self.tree["rows"])

    def add(self, row):
        self.tree["rows"].append(row)
        self.save()

    def save(self):
        with open(self.path + ".part", "w") as file:
            json.dump(self.tree, file, indent=1)
            file.write("\n")
        os.replace(self.path + ".part", self.path)


def wanted(args):
    """Rows to measure, the most telling first: middle batches, eager, autocast."""
    for which in (1, 0, 2):
        for mode in args.modes.split(","):
            for precision in args.precisions.split(","):
                for name in args.only.split(","):
                    m = MODELS[name]
                    if which < len(m["batches"]):
                        yield m, dict(kind="pytorch_step", device=0, model=name, mode=mode,
                                      precision=precision, batch=m["batches"][which],
                                      sequence=m["sequence"])


def measure_step(m, row, steps):
    row = dict(row, config=config_of(m))
    try:
        row.update(time_step(m, row["batch"], row["mode"], row["precision"], steps))
    except Exception as error:  # whatever a compiler throws is recorded
        row["error"] = first_line(error)
    return row


def measure(args, out):
    """All rows, until the budget is spent."""
    begun = time.monotonic()
    flash_rows(out, begun + args.budget / 4)
    for m, row in wanted(args):
        if out.has(row):
            continue
        if time.monotonic() > begun + args.budget:
            raise OutOfTime
        forget()
        row = measure_step(m, row, args.steps)
        out.add(row)
        print(row["model"], row["batch"], row["mode"], row["precision"],
              row.get("time_s", row.get("error")), flush=True)
    signal.setitimer(signal.ITIMER_REAL, 0)
    out.tree["complete"] = True
    out.save()


def main():
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--out", required=True)
    words.add_argument("--only", default=",".join(MODELS))
    words.add_argument("--steps", type=int, default=20)
    words.add_argument("--modes", default="eager,compiled")
    words.add_argument("--precisions", default="amp_bf16")
    words.add_argument("--budget", type=float, default=1e9,
                       help="seconds; no step is begun after them, none goes on for long")
    args = words.parse_args()
    for name in args.only.split(","):
        if name not in MODELS:
            words.error(f"--only: {name}: is none of {', '.join(MODELS)}")
    if not set(args.precisions.split(",")) <= {"amp_bf16", "tf32"}:
        words.error("--precisions: amp_bf16 and tf32 are measured")
    if not torch.cuda.is_available():
        print("pytorch_step.py: no GPU to measure")
        raise SystemExit(3)
    end_after(args.budget + GRACE_S)
    try:
        measure(args, Output(args.out))
    except OutOfTime:
        print("no time is left: run again to go on")


if __name__ == "__main__":
    main()
