import argparse

import torch
from torch.utils.data import DataLoader

from network import Classifier
from settings import add_options, setting
from texts import collate

parser = argparse.ArgumentParser()
add_options(parser)
args = parser.parse_args()
model = Classifier().to("cuda")
loader = DataLoader(data, batch_size=setting("BATCH", 16), collate_fn=collate)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for i, batch in enumerate(loader):
    loss = criterion(model(**batch), batch["labels"]) / args.accumulate
    loss.backward()
    if (i + 1) % args.accumulate == 0:
        optimizer.step()
        optimizer.zero_grad()
