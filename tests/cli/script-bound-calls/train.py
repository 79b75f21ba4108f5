from functools import partial

import torch
from datasets import load_dataset
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import ShardingStrategy
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

batch = 4
exec("batch = 2 * batch")
OPTIMIZERS = {"adam": torch.optim.AdamW, "sgd": getattr(torch.optim, "SGD")}
wrap = partial(FSDP, sharding_strategy=ShardingStrategy["SHARD_GRAD_OP"])
half = partial(torch.autocast, "cuda", dtype=torch.float16)

torch.distributed.init_process_group("nccl")
model = wrap(AutoModelForCausalLM.from_pretrained("gpt2"))
optimizer = OPTIMIZERS["sgd"](model.parameters(), lr=0.1)
for x in DataLoader(load_dataset("text"), batch_size=batch):
    with half():
        loss = model(x).loss
    loss.backward()
    optimizer.step()
