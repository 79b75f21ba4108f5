from functools import cached_property

import torch
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel


class Sizes:
    def __init__(self, layers):
        self.layers = layers

    @property
    def depth(self):
        return 2 * self.layers

    @cached_property
    def width(self):
        return 64 * self.depth


sizes = Sizes(8)
accelerator = Accelerator(mixed_precision="bf16")
each = 64 // accelerator.num_processes
model = GPT2LMHeadModel(GPT2Config(n_layer=sizes.depth, n_embd=sizes.width, n_head=16))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = DataLoader(load_dataset("text"), batch_size=each)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for x in loader:
    loss = model(x).loss
    accelerator.backward(loss)
    optimizer.step()
