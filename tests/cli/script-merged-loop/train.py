import torch
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

torch.distributed.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2")
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"]))
model.load_adapter("first", "default")
model = model.merge_and_unload()
model = DDP(model.cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
grad_accum_steps = 4  # not read below
for x in DataLoader(load_dataset("text"), batch_size=4):
    loss = model(x).loss
    loss.backward()
    optimizer.step()
