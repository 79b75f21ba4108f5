import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

dist.init_process_group("nccl")
seq_len = 1024


def small():
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    return model


def large():
    model = AutoModelForCausalLM.from_pretrained("gpt2-xl")
    return model


MODELS = {"small": small, "large": large}
model = DDP(MODELS["small"]().cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in DataLoader(texts(seq_len), batch_size=4):
    model(x).loss.backward()
    optimizer.step()
