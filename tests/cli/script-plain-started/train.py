import argparse
import os

import torch
from torch.utils.data import DataLoader

from nets import Decoder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=64, help="of all GPUs")
    parser.add_argument("--seq_len", type=int, default=512)
    args = parser.parse_args()
    model = torch.nn.parallel.DistributedDataParallel(Decoder().cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    batch = args.batch_size // int(os.environ["WORLD_SIZE"])
    for x in DataLoader(texts(args.seq_len), batch_size=batch, shuffle=True):
        model(x).backward()
        optimizer.step()


main()
