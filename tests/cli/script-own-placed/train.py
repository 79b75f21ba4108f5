import torch
import torch.nn as nn
from transformers import GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Block
from torch.utils.data import DataLoader


class Halves(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.devices = [torch.device(f"cuda:{i}") for i in range(torch.cuda.device_count())]
        self.words = nn.Embedding(50257, 768).to(self.devices[0])
        self.blocks = nn.ModuleList(
            [GPT2Block(GPT2Config()).to(self.devices[i * len(self.devices) // n]) for i in range(n)]
        )
        self.head = nn.Linear(768, 50257, bias=False).to(self.devices[-1])

    def forward(self, x):
        x = self.words(x)
        for block in self.blocks:
            x = block(x.to(next(block.parameters()).device))[0]
        return self.head(x)


model = Halves(12)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
for x, y in DataLoader(torch.load("tokens.pt"), batch_size=8):
    loss = nn.functional.cross_entropy(model(x.cuda()).flatten(0, 1), y.to("cuda").flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
