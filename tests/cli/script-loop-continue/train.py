import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import GPT2LMHeadModel

torch.distributed.init_process_group("nccl")
model = DDP(GPT2LMHeadModel.from_pretrained("gpt2").cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
block_size = 512
config = {"gradient_accumulation": 64 // 8}
n = config["gradient_accumulation"]
seen = 0
for batch in DataLoader(torch.load("tokens.pt"), batch_size=8):
    seen += 1
    loss = model(batch, labels=batch).loss / n
    loss.backward()
    if seen % n != 0:
        continue
    optimizer.step()
    optimizer.zero_grad()
