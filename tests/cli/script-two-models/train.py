import os

import torch
from datasets import load_dataset
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel


def loop(model, batch):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x in DataLoader(load_dataset("text"), batch_size=batch):
        loss = model(x).loss
        loss.backward()
        optimizer.step()


def train():
    torch.distributed.init_process_group("nccl")
    model = GPT2LMHeadModel(GPT2Config(n_layer=48, n_embd=1600, n_head=25))
    loop(DDP(model), 2)


def smoke_test():
    model = GPT2LMHeadModel(GPT2Config(n_layer=2))
    loop(model, 1)


if __name__ == "__main__":
    if os.path.exists("data/train.bin"):
        train()
    else:
        smoke_test()
