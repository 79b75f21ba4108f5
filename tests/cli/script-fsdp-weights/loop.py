import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", torch_dtype=torch.bfloat16)
model = FSDP(model)
dl = torch.utils.data.DataLoader(ds, batch_size=4)
opt = torch.optim.AdamW(model.parameters(), lr=1)
for b in dl:
    model(**b).loss.backward()
    opt.step()
