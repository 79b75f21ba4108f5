import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size
from transformers import AutoModelForCausalLM

accelerator = Accelerator(mixed_precision="bf16")
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())
wanted = 16


@find_executable_batch_size(starting_batch_size=wanted)
def loop(size):
    accumulation_steps = 1
    if size < wanted:
        accumulation_steps = wanted // size
    train_rows = torch.utils.data.DataLoader(texts(), batch_size=size, shuffle=True)
    for i, x in enumerate(train_rows):
        accelerator.backward(model(**x).loss / accumulation_steps)
        if i % accumulation_steps == 0:
            optimizer.step()


loop()
