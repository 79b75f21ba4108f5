import torch.nn as nn
from transformers import BertModel


class Classifier(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.body = BertModel.from_pretrained("bert-base-uncased")
        self.scores = nn.Linear(768, classes)

    def forward(self, ids, mask):
        return self.scores(self.body(ids, attention_mask=mask).pooler_output)
