import argparse
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

p = argparse.ArgumentParser()
p.add_argument("--batch_size", type=int, default=64)
p.add_argument("--clip", type=float, default=1.0)
a = p.parse_args()
net = DDP(make().cuda())
opt = torch.optim.AdamW(net.parameters())
for x in DataLoader(rows(), batch_size=a.batch_size // 8):
    loss(net(x)).backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), a.clip)
    opt.step()
