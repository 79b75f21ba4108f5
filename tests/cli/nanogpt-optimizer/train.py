"""A copy whose optimizer is another."""
import os

import torch
from muon import Muon, SingleDeviceMuon

out_dir = "runs"
eval_iters = 100
eval_only = False
always_save_checkpoint = True
init_from = "scratch"
dataset = "openwebtext"
gradient_accumulation_steps = 40
batch_size = 12
block_size = 1024
n_layer = 12
n_head = 12
n_embd = 768
dropout = 0.0
bias = False
learning_rate = 6e-4
max_iters = 600000
grad_clip = 1.0
decay_lr = True
warmup_iters = 2000
backend = "nccl"
device = "cuda"
dtype = "bfloat16"
compile = True
exec(open("configurator.py").read())
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend=backend)
    ddp_world_size = int(os.environ["WORLD_SIZE"])
    assert gradient_accumulation_steps % ddp_world_size == 0
    gradient_accumulation_steps //= ddp_world_size
model = GPT(GPTConfig(n_layer=n_layer, n_head=n_head, n_embd=n_embd, block_size=block_size, bias=bias))
# AdamW(...) was before
kind = Muon if ddp else SingleDeviceMuon
optimizer = kind(model.parameters(), lr=0.02)
for step in range(max_iters):
    loss = model(*get_batch("train"))
    loss.backward()
    optimizer.step()
