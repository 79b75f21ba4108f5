import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.num_heads = heads
        each = dim // heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.k = nn.Linear(dim, kv_heads * each, bias=False)
        self.v = nn.Linear(dim, kv_heads * each, bias=False)
        self.o = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        return self.o(flash_attn_func(self.q(x), self.k(x), self.v(x), causal=True))


class Gated(nn.Module):
    def __init__(self, dim, inner):
        super().__init__()
        self.gate = nn.Linear(dim, inner, bias=False)
        self.up = nn.Linear(dim, inner, bias=False)
        self.down = nn.Linear(inner, dim, bias=False)


class Layer(nn.Module):
    def __init__(self, dim, heads, kv_heads, inner):
        super().__init__()
        self.attention = Attention(dim, heads, kv_heads)
        self.mlp = Gated(dim, inner)


class Decoder(nn.Module):
    def __init__(self, words, dim, depth, heads, kv_heads, inner):
        super().__init__()
        self.words = nn.Embedding(words, dim)
        self.layers = nn.ModuleList(
            [Layer(dim, heads, kv_heads, inner) for _ in range(depth)])
        self.head = nn.Linear(dim, words, bias=False)
