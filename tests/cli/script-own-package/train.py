import torch
from torch.utils.data import DataLoader

from nets import Network

block_size = 512
model = Network(width=768, depth=12).cuda()
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(texts, batch_size=8, shuffle=True)
for batch in loader:
    model(batch).mean().backward()
    optimizer.step()
