import torch
from datasets import load_dataset
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp import MixedPrecision
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModelForCausalLM

torch.distributed.init_process_group("nccl")
config = AutoConfig.from_pretrained("gpt2")
model = AutoModelForCausalLM._from_config(config, torch_dtype=torch.bfloat16)
half = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
model = FSDP(model, mixed_precision=half)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in DataLoader(load_dataset("text"), batch_size=4):
    loss = model(x).loss
    loss.backward()
    model.clip_grad_norm_(0.5)
    optimizer.step()
