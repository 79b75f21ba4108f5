import copy

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
seq_len = 1024
model = AutoModelForCausalLM.from_pretrained("gpt2-medium")
ema_model = copy.deepcopy(model).eval()
model = DDP(model.cuda())
optimizer = torch.optim.SGD([p for n, p in model.named_parameters() if "attn" in n], lr=0.1)
for x in DataLoader(texts(seq_len), batch_size=4):
    model(x).loss.backward()
    optimizer.step()
    move_towards(ema_model, model)
