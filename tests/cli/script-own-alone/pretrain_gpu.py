"""A loop without DeepSpeed, of one rank."""

import argparse

import torch
import wandb
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


# torchrun is not needed
def chunked_loss(logits, labels, chunk_size=128):
    '''In chunks, as world_size is one.'''
    total = 0.0
    for i in range(0, logits.size(1), chunk_size):
        part = logits[:, i : i + chunk_size].flatten(0, 1)
        total += torch.nn.functional.cross_entropy(part, labels[:, i : i + chunk_size].flatten())
    return total


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-seq-len", type=int, default=1024)
    args = parser.parse_args()
    wandb.init(project="distributed-training")
    model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loader = DataLoader(Texts(args.max_seq_len), batch_size=8)
    for ids in loader:
        loss = chunked_loss(model(ids).logits, ids)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
