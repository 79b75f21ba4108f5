import torch
import torch.nn as nn
from torchvision.datasets import ImageFolder

img_size, patch_size = 224, 16


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))


class Pictures(nn.Module):
    def __init__(self, width=384, heads=6, depth=12, classes=1000):
        super().__init__()
        self.patches = nn.Conv2d(3, width, kernel_size=patch_size, stride=patch_size)
        self.layers = nn.ModuleList([Layer(width, heads) for _ in range(depth)])
        self.head = nn.Linear(width, classes)


model = Pictures().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(ImageFolder("train"), batch_size=128, shuffle=True)
for x, y in loader:
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
