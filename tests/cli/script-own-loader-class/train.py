import os

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from loop import DataLoader, Loop, Plan

plan = Plan(words=50257, batch_size=6, accumulation_steps=4)
torch.distributed.init_process_group("nccl")
torch.set_float32_matmul_precision("high")
model = GPT2LMHeadModel(GPT2Config()).cuda()
loader = DataLoader(plan, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
Loop(plan, model).train(loader)
