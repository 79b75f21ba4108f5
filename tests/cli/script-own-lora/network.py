import torch
from torch import nn
from torch.nn import functional as F


class LoRALinear(nn.Module):
    def __init__(self, linear, rank):
        super().__init__()
        self.linear = linear
        self.a = nn.Linear(linear.in_features, rank, bias=False)
        self.b = nn.Linear(rank, linear.out_features, bias=False)

    def forward(self, x):
        return self.linear(x) + self.b(self.a(x))


def add_lora(model, rank=8):
    for block in model.blocks:
        block.attn.qkv = LoRALinear(block.attn.qkv, rank)


class Lengths:
    block_size = 2048
    layers = 12

    @classmethod
    def small(cls):
        return cls()

    def __len__(self):
        return self.layers
