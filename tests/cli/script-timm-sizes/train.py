import timm
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torchvision import datasets

torch.distributed.init_process_group("nccl")
model = timm.create_model("vit_base_patch16_224", img_size=384, depth=6, num_heads=8)
model.set_grad_checkpointing(enable=True)
model = DDP(model.cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for x, y in DataLoader(datasets.ImageFolder("pictures"), batch_size=64):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
