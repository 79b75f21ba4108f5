"""Settings as names of the text, which files and --key=value replace."""
import os

import torch

out_dir = "runs"
eval_iters = 100
eval_only = False
always_save_checkpoint = True
init_from = "scratch"
dataset = "web"
gradient_accumulation_steps = 2 * 16
batch_size = 16
block_size = 2048
n_layer = 16
n_head = 16
n_embd = 1024
dropout = 0.1
bias = False
learning_rate = 3e-4
max_iters = 90000
grad_clip = 1.0
decay_lr = True
warmup_iters = 1000
backend = "nccl"
device = "cuda"
dtype = "bfloat16" if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else "float16"
compile = True
exec(open("configurator.py").read())
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    init_process_group(backend=backend)
    ddp_world_size = int(os.environ["WORLD_SIZE"])
    assert gradient_accumulation_steps % ddp_world_size == 0
    gradient_accumulation_steps //= ddp_world_size
model = GPT(GPTConfig(n_layer=n_layer, n_head=n_head, n_embd=n_embd, block_size=block_size, bias=bias))
for step in range(max_iters):
    loss = model(*get_batch("train"))
    loss.backward()
