import horovod.torch as hvd
import torch
from torch.utils.data import DataLoader
from transformers import BertForMaskedLM

hvd.init()
model = BertForMaskedLM.from_pretrained("bert-large-uncased")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
optimizer = hvd.DistributedOptimizer(
    optimizer,
    named_parameters=model.named_parameters(),
    compression=hvd.Compression.fp16,
    backward_passes_per_step=2,
)
train_loader = DataLoader(texts, batch_size=16)
for batch in train_loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
