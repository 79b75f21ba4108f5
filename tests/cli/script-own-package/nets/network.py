import torch.nn as nn

from .layer import Layer


class Network(nn.Module):
    def __init__(self, width=512, depth=6):
        super().__init__()
        self.words = nn.Embedding(50257, width)
        self.places = nn.Embedding(1024, width)
        self.layers = nn.ModuleList([Layer(width, width // 64) for _ in range(depth)])
        self.head = nn.Linear(width, 50257, bias=False)
