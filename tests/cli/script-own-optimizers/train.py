import os

import torch
import torch.distributed as dist
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
matrices = [p for p in model.parameters() if p.ndim == 2]
others = [p for p in model.parameters() if p.ndim < 2]
optimizers = make_optimizers(matrices, others)
seq_len = 512
batch_size = 4
parts = int(open("parts").read())

while True:
    for part in range(parts):
        ids = torch.randint(0, 50257, (batch_size, seq_len)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(ids, labels=ids).loss / parts
        loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
