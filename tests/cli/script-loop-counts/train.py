import torch
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

grad_accum_steps = 4  # of a schedule that is gone
every = 6
torch.distributed.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2").type(torch.bfloat16)
model = DDP(model.cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
batches = iter(DataLoader(load_dataset("text"), batch_size=4))
for i in range(10000):
    loss = model(next(batches)).loss
    loss.backward()
    if (i + 1) % every == 0:
        optimizer.step()
        optimizer.zero_grad()
