import smdistributed.dataparallel.torch.torch_smddp
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import BertForMaskedLM

dist.init_process_group(backend="smddp")
model = DDP(BertForMaskedLM.from_pretrained("bert-large-uncased"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in DataLoader(texts, batch_size=16):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
