import os
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from model import GPT, GPTConfig

init_from = 'scratch'
always_save_checkpoint = False
decay_lr = True
dataset = 'openwebtext'
gradient_accumulation_steps = 5
batch_size = 12
block_size = 1024
n_layer = 12
n_head = 12
n_embd = 768
dropout = 0.0
bias = False
optimizer_name = 'adamw'
dtype = 'bfloat16'
exec(open('configurator.py').read())
if int(os.environ.get('RANK', -1)) == -1:
    gradient_accumulation_steps *= 8
model = GPT(GPTConfig(n_layer=n_layer, n_head=n_head, n_embd=n_embd, block_size=block_size, bias=bias))
model = DDP(model)
