import torch
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

exec(open("overrides.py").read())
torch.distributed.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)
model = model.half().cuda()
model.float()
for name, parameter in model.named_parameters():
    parameter.requires_grad_("ln" in name)
optimizer = torch.optim.AdamW(DDP(model).parameters(), lr=1e-4)
for x in DataLoader(load_dataset("text"), batch_size=4):
    loss = model(x).loss
    loss.backward()
    optimizer.step()
