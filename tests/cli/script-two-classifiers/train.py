import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
best = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
opt = torch.optim.AdamW(model.parameters())
loader = DataLoader(range(9), batch_size=8)
max_length = 128
for b in loader:
    loss = model(**b).loss
    loss.backward()
    opt.step()
