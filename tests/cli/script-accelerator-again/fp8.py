import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

accelerator = Accelerator(mixed_precision="fp8")
model = AutoModelForCausalLM.from_pretrained("gpt2")
rows = torch.randint(0, 50257, (1000, 512))
loader = DataLoader(rows, batch_size=16, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    accelerator.backward(model(batch, labels=batch).loss)
    optimizer.step()
    optimizer.zero_grad()
