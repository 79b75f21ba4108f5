import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b", torch_dtype=torch.bfloat16).cuda()
model = DDP(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in DataLoader(texts, batch_size=2):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
