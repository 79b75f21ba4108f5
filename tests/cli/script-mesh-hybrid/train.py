import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

mesh = init_device_mesh("cuda", (2, 4), mesh_dim_names=("replicate", "shard"))
model = AutoModelForCausalLM.from_pretrained("gpt2-xl", torch_dtype=torch.bfloat16)
for layer in model.transformer.h:
    fully_shard(layer, mesh=mesh)
fully_shard(model, mesh=mesh)
opt = torch.optim.AdamW(model.parameters())
for b in DataLoader(rows(), batch_size=4):
    model(**b).loss.backward()
    opt.step()
