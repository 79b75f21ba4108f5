import torch
from datasets import load_dataset
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

from settings import MoreSteps, Ranks, Sizes

ranks, sizes = Ranks(), Sizes(large=True)
sizes.grow()


class Lengths:
    length = 128
    batch = 3

    def __init__(self, length=256):
        self.length = length


class Longer(Lengths):
    def __init__(self):
        super().__init__(512)


steps, lengths = MoreSteps(), Longer()
model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
if ranks.shards:
    torch.distributed.init_process_group("nccl")
    model = FSDP(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = DataLoader(load_dataset("text"), batch_size=lengths.batch)
for i, x in enumerate(loader):
    loss = model(x[:, : lengths.length]).loss / sizes.accumulate
    loss.backward()
    if (i + 1) % steps.steps == 0:
        optimizer.step()
