import torch
from torchvision.datasets import ImageFolder

from masked import Masked

model = Masked(mask_ratio=0.75).cuda()
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(ImageFolder("train"), batch_size=64)
for x, _ in loader:
    model(x).backward()
    optimizer.step()
