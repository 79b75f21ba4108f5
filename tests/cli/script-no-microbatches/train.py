import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

total_batch_size = 524288
B, T = 64, 1024
torch.distributed.init_process_group("nccl")
steps = total_batch_size // (B * T * int(os.environ["WORLD_SIZE"]))


class Block(nn.Module):
    def __init__(self, width, n_head):
        super().__init__()
        self.n_head = n_head
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(50304, 768)
        self.places = nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList([Block(768, 12) for _ in range(12)])
        self.head = nn.Linear(768, 50304, bias=False)


model = DDP(Decoder().cuda())
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    for micro_step in range(steps):
        loss = model(B, T)
        loss.backward()
    optimizer.step()
