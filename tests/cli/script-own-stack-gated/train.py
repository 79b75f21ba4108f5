import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, MixedPrecision
from torch.utils.data import DataLoader
from net import Decoder

half = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
net = FSDP(Decoder(32000, 2048, 22, 32, 4, 5632), mixed_precision=half)
opt = torch.optim.AdamW(net.parameters())
for batch in DataLoader(rows(), batch_size=8):
    loss(net(batch)).backward()
    opt.step()
