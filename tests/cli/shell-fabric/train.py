import torch
from lightning.fabric import Fabric
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer

fabric = Fabric()
fabric.launch()
tokenizer = AutoTokenizer.from_pretrained("gpt2-xl")
model = AutoModelForCausalLM.from_pretrained("gpt2-xl")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
model, optimizer = fabric.setup(model, optimizer)


def collate(rows):
    return tokenizer(rows, padding="max_length", max_length=1024, return_tensors="pt")


loader = fabric.setup_dataloaders(DataLoader(texts, batch_size=4, collate_fn=collate))
for batch in loader:
    loss = model(**batch, labels=batch["input_ids"]).loss
    fabric.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
