import os
from dataclasses import dataclass
import torch
import torch.nn as nn
import torch.nn.functional as F
from xformers import ops
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Sizes:
    block_size: int = 1024
    vocab_size: int = 50304
    n_layer: int = 12
    n_head: int = 12
    n_embd: int = 768


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n_head = c.n_head
        self.qkv = nn.Linear(c.n_embd, 3 * c.n_embd)
        self.out = nn.Linear(c.n_embd, c.n_embd)

    def forward(self, x):
        q, k, v = split(self.qkv(x), self.n_head)
        return self.out(ops.memory_efficient_attention(q, k, v, attn_bias=ops.LowerTriangularMask()))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1 = nn.LayerNorm(c.n_embd)
        self.att = Attention(c)
        self.n2 = nn.LayerNorm(c.n_embd)
        self.up = nn.Linear(c.n_embd, 4 * c.n_embd)
        self.down = nn.Linear(4 * c.n_embd, c.n_embd)


class Net(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.words = nn.Embedding(c.vocab_size, c.n_embd)
        self.places = nn.Embedding(c.block_size, c.n_embd)
        self.layers = nn.ModuleList([Layer(c) for _ in range(c.n_layer)])
        self.head = nn.Linear(c.n_embd, c.vocab_size, bias=False)
        self.words.weight = self.head.weight


joined = int(os.environ.get("RANK", -1)) != -1
if joined:
    dist.init_process_group("nccl")
    ranks = int(os.environ["WORLD_SIZE"])
else:
    ranks = 1
B, T = 16, 1024
grad_accum_steps = 262144 // (B * T * ranks)
loader = DataLoaderLite(B=B, T=T)
net = Net(Sizes(n_layer=24, n_head=16, n_embd=1024)).cuda()
if joined:
    net = DDP(net)
opt = torch.optim.AdamW(net.parameters())
for step in range(100):
    for i in range(grad_accum_steps):
        x, y = loader.next_batch()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(net(x), y)
        loss.backward()
    opt.step()
