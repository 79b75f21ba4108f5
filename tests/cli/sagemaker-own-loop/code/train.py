import argparse
import os

import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from nets import Encoder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()
    world = torch.distributed.get_world_size()
    args.batch_size //= world // 8
    model = DDP(Encoder().cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    train_loader = DataLoader(texts(), batch_size=args.batch_size, num_workers=0)
    for x, y in train_loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


main()
