import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils.data import DataLoader

from nets import VisionTransformer

stem = torch.nn.Sequential(torch.nn.Conv2d(3, 64, 7), torch.nn.BatchNorm2d(64))
model = FSDP(VisionTransformer(stem, layers=24).cuda())
optimizer = torch.optim.AdamW(model.parameters())
for x, y in DataLoader(pictures(), batch_size=16, shuffle=True):
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
