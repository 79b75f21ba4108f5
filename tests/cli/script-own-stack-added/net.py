import torch
from torch import nn


class Options:
    def __init__(self, dim, n_layers, n_heads):
        self.dim = dim
        self.n_layers = n_layers
        self.n_heads = n_heads


class Layer(nn.Module):
    def __init__(self, o):
        super().__init__()
        inner = 32 * ((int(8 * o.dim / 3) + 31) // 32)
        self.q = nn.Linear(o.dim, o.dim, bias=False)
        self.k = nn.Linear(o.dim, o.dim, bias=False)
        self.v = nn.Linear(o.dim, o.dim, bias=False)
        self.o = nn.Linear(o.dim, o.dim, bias=False)
        self.gate = nn.Linear(o.dim, inner, bias=False)
        self.up = nn.Linear(o.dim, inner, bias=False)
        self.down = nn.Linear(inner, o.dim, bias=False)
        self.mask = torch.tril(torch.ones(64, 64))


class Transformer(nn.Module):
    def __init__(self, o):
        super().__init__()
        self.words = nn.Embedding(32000, o.dim)
        self.layers = nn.ModuleList()
        for i in range(o.n_layers):
            self.layers.append(Layer(o))
        self.head = nn.Linear(o.dim, 32000, bias=False)
        self.words.weight = self.head.weight
