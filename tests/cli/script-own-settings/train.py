import argparse

import torch
import torch.nn as nn
from torchvision.datasets import CIFAR10

from network import MODELS, Pictures

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="small")
parser.add_argument("--img_size", type=int, default=224)
parser.add_argument("--batch_size", type=int, default=256)
args = parser.parse_args()
config = MODELS[args.model]
model = Pictures(config, args.img_size, classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
loader = torch.utils.data.DataLoader(CIFAR10("data"), batch_size=args.batch_size)
for x, y in loader:
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
