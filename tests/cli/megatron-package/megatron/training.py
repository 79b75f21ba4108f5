import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim import AdamW


def pretrain(model_provider):
    model = DDP(model_provider())
    optimizer = AdamW(model.parameters())
    for batch in torch.utils.data.DataLoader(texts, batch_size=1):
        loss = model(batch)
        loss.backward()
        optimizer.step()
