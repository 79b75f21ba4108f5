import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

try:
    import torch_xla.core.xla_model as xm
    from torch_xla.distributed.fsdp import XlaFullyShardedDataParallel as FSDP
except ImportError:
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

    xm = None

batch = 2
try:
    batch = 4
    raise ValueError("too small")
    batch = 5
except ValueError:
    batch += 2
except TypeError:
    batch = 7
else:
    batch = 9

length = 512
try:
    if load_dataset("text").num_rows > 9:
        raise RuntimeError("long")
    length = 1024
except RuntimeError:
    length = 2048

torch.distributed.init_process_group("nccl")
model = AutoModelForCausalLM.from_pretrained("gpt2")
model = model if xm else FSDP(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in DataLoader(load_dataset("text"), batch_size=batch):
    loss = model(x[:, :length]).loss
    loss.backward()
    optimizer.step()
