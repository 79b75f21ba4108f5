import argparse

import torch
from torch.utils.data import DataLoader
from transformers import DistilBertModel, DistilBertTokenizer

MAX_LEN = 256
parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=4)
args = parser.parse_args()
tokenizer = DistilBertTokenizer.from_pretrained("distilbert-base-uncased")


class Headed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = DistilBertModel.from_pretrained("distilbert-base-uncased")
        self.head = torch.nn.Linear(768, 4)

    def forward(self, ids, mask):
        return self.head(self.body(input_ids=ids, attention_mask=mask)[0][:, 0])


model = Headed()
loader = DataLoader(rows, batch_size=args.rows)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for batch in loader:
    loss = torch.nn.functional.cross_entropy(model(*batch[:2]), batch[2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
