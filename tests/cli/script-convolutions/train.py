import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Sequential(nn.Conv2d(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.Flatten(), nn.LazyLinear(10))
model = nn.parallel.DistributedDataParallel(model.cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(pictures, batch_size=64):
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
