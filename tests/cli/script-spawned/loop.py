import torch
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def train(rank, name, batch):
    model = DDP(AutoModelForCausalLM.from_pretrained(name).to(rank))
    optimizer = torch.optim.AdamW(model.parameters())
    for x in DataLoader(texts(), batch_size=batch, shuffle=True):
        model(**x).loss.backward()
        optimizer.step()


mp.spawn(train, args=("gpt2", 8), nprocs=4)
