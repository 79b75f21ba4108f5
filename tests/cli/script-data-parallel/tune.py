import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import BertForSequenceClassification, AdamW
model = BertForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)
model.cuda()
opt = torch.optim.AdamW(model.parameters(), lr=2e-5)
dl = DataLoader(ds, batch_size=32, shuffle=True)
tok = tokenizer(t, max_length=128, padding="max_length", truncation=True)
for b in dl:
    loss = model(**b).loss.mean()
    loss.backward()
    opt.step()
