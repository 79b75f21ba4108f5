from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Shape:
    width: int = 1024
    n_layers: int = 8
    n_heads: int = 16
    words: int = -1


class Attention(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.qkv = nn.Linear(shape.width, 3 * shape.width)
        self.out = nn.Linear(shape.width, shape.width)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True))


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.attention = Attention(shape)
        self.up = nn.Linear(shape.width, 4 * shape.width)
        self.down = nn.Linear(4 * shape.width, shape.width)


class Decoder(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.words = nn.Embedding(shape.words, shape.width)
        self.places = nn.Embedding(2048, shape.width)
        self.layers = nn.ModuleDict()
        for i in range(shape.n_layers):
            self.layers[str(i)] = Layer(shape)
        self.head = nn.Linear(shape.width, shape.words, bias=False)

    @classmethod
    def of(cls, shape: Shape) -> "Decoder":
        return cls(shape)
