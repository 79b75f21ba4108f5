import torch
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def twice(function):
    def wrapped(*given):
        return 2 * function(*given)

    return wrapped


@twice
def size():
    return 4


torch.distributed.init_process_group("nccl")
model = DDP(AutoModelForCausalLM.from_pretrained("gpt2").cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x in DataLoader(load_dataset("text"), batch_size=size()):
    loss = model(x).loss
    loss.backward()
    optimizer.step()
