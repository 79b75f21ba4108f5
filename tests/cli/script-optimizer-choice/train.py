import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import GPT2LMHeadModel

torch.distributed.init_process_group("nccl")
settings = torch.load("settings.pt")
model = DDP(GPT2LMHeadModel.from_pretrained("gpt2").cuda())
if settings["name"] == "adam":
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
else:
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
block_size = 512
for batch in DataLoader(torch.load("tokens.pt"), batch_size=4):
    loss = model(batch, labels=batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
