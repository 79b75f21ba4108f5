import torch
from bitsandbytes.nn import Linear4bit
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2-xl", torch_dtype=torch.bfloat16)
swap(model, Linear4bit)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"]))
opt = torch.optim.AdamW(model.parameters())
for batch in DataLoader(rows(), batch_size=4):
    model(**batch).loss.backward()
    opt.step()
