import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP

from sizes import Sizes


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.n_head = s.heads
        self.qkv = nn.Linear(s.width, 3 * s.width, bias=False)
        self.out = nn.Linear(s.width, s.width, bias=False)
        self.up = nn.Linear(s.width, s.hidden, bias=False)
        self.down = nn.Linear(s.hidden, s.width, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.down(F.gelu(self.up(x)))


class Decoder(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.words = nn.Embedding(s.words, s.width)
        self.blocks = nn.ModuleList([Block(s) for _ in range(s.depth)])
        self.head = nn.Linear(s.width, s.words, bias=False)


def half(name):
    dtype = torch.bfloat16 if name == "bfloat16" else torch.float16
    return torch.autocast("cuda", dtype=dtype)


parser = argparse.ArgumentParser()
parser.add_argument("--config", default="configs/base.yaml")
args = parser.parse_args()
with open(args.config) as f:
    config = yaml.safe_load(f)
batch_size = int(config["training"]["batch_size"])
accumulation_steps = 4
seq_len = 1024
dist.init_process_group("nccl")
model = DDP(Decoder(Sizes.small()).cuda())
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(texts, batch_size=batch_size * accumulation_steps)
for batch in loader:
    for part in batch.chunk(accumulation_steps):
        with half(config["training"]["dtype"]):
            loss = model(part).mean()
        (loss / accumulation_steps).backward()
    optimizer.step()
