import torch
import torch.nn as nn


class Classifier(nn.Module):
    def __init__(self, words=30000, width=512, heads=8, layers=6, classes=4):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(256, width)
        layer = nn.TransformerEncoderLayer(width, heads, dim_feedforward=2048, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.words(x) + self.places(torch.arange(x.size(1)))
        return self.head(self.encoder(h).mean(1))


model = Classifier().cuda()
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
optimizer = torch.optim.AdamW(model.parameters())
for x, y in loader:
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
