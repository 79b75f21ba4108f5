import argparse
from contextlib import contextmanager

import torch
import torch.nn as nn

try:
    from torch.cuda.amp import autocast
except ImportError:
    autocast = None


@contextmanager
def half(enabled: bool = True):
    count: int
    if autocast is None or not enabled:
        yield
        return
    with autocast():
        yield


class Model(nn.Module):
    def shard(self):
        for layer in self.layers:
            torch.distributed.fsdp.fully_shard(layer)


parser = argparse.ArgumentParser()
parser.add_argument("--fsdp", action="store_true")
parser.add_argument("--train", action="store_true")
parser.add_argument("--batch_size", type=int, default=8)
args = parser.parse_args()
model = Model()
if args.fsdp:
    model.shard()
scaler = torch.amp.GradScaler() if args.fsdp else None
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size)


def train(batch):
    with half(enabled=scaler is not None):
        loss = model(batch).sum()
    loss.backward()
    optimizer.step()


if args.train:
    for batch in loader:
        train(batch)
