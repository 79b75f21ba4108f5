import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)


def join(texts):
    return tokenizer(texts, padding="max_length", max_length=128, truncation=True, return_tensors="pt")


loader = DataLoader(data, batch_size=16, collate_fn=join)
model.eval()
for epoch in range(3):
    for batch in tests:
        with torch.no_grad():
            before = model(**batch).logits
for epoch in range(3):
    model.train()
    for batch in loader:
        with torch.no_grad():
            fixed = model(**batch).logits
        once = model(**batch).logits
        again = model(**batch).logits
        loss = torch.nn.functional.mse_loss(once, again + fixed)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.eval()
    for batch in tests:
        scores = model(**batch).logits
