import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import GPT2LMHeadModel

world = int(os.environ["WORLD_SIZE"])
B, T = 8, 1024
tokens = 65536
assert tokens % (B * T * world) == 0
steps = tokens // (B * T * world)
model = DDP(GPT2LMHeadModel.from_pretrained("gpt2").cuda())
for i in range(100):
    for k in range(steps):
        loss = model(batch(B, T)).loss
        loss.backward()
    model.step()
