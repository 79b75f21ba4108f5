import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

accelerator = Accelerator(gradient_accumulation_steps=2)
accelerator.gradient_accumulation_steps = 4
batch = torch.ones(1).to(torch.float16)
model = AutoModelForCausalLM.from_pretrained("gpt2-medium").to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = DataLoader(texts(), batch_size=4)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
