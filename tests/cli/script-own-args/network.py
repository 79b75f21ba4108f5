from dataclasses import dataclass

import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Args:
    dim: int = 4096
    n_layers: int = 32
    q_heads: int = 32
    words: int = -1


class Block(nn.Module):
    def __init__(self, args: Args):
        super().__init__()
        self.wq = nn.Linear(args.dim, args.dim, bias=False)
        self.wk = nn.Linear(args.dim, args.dim, bias=False)
        self.wv = nn.Linear(args.dim, args.dim, bias=False)
        self.wo = nn.Linear(args.dim, args.dim, bias=False)
        self.w1 = nn.Linear(args.dim, 3 * args.dim, bias=False)
        self.w2 = nn.Linear(3 * args.dim, args.dim, bias=False)
        self.w3 = nn.Linear(args.dim, 3 * args.dim, bias=False)

    def forward(self, x):
        return F.scaled_dot_product_attention(self.wq(x), self.wk(x), self.wv(x), is_causal=True)


class Network(nn.Module):
    def __init__(self, args: Args):
        super().__init__()
        self.words = nn.Embedding(args.words, args.dim)
        self.layers = nn.ModuleList()
        for _ in range(args.n_layers):
            self.layers.append(Block(args))
        self.head = nn.Linear(args.dim, args.words, bias=False)
