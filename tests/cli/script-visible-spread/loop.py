import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
if torch.cuda.device_count() > 1:
    model = torch.nn.DataParallel(model)
optimizer = torch.optim.AdamW(model.parameters())
for x in DataLoader(texts(), batch_size=64, shuffle=True):
    model(**x).loss.backward()
    optimizer.step()
