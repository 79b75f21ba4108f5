import torch
from helpers import *
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import LlamaConfig, LlamaForCausalLM

import policies

torch.distributed.init_process_group("nccl")
width = 1024
config = LlamaConfig(
    hidden_size=width,
    num_hidden_layers=8,
    num_attention_heads=16,
    num_key_value_heads=16,
    intermediate_size=round_up(int(8 * width / 3), 256),
    max_position_embeddings=2048,
)
model = FSDP(LlamaForCausalLM(config), mixed_precision=policies.half)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in batches(12):
    loss = model(x).loss
    loss.backward()
    optimizer.step()
