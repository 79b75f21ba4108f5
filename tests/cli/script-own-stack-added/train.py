import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from net import Options, Transformer

dim = 768
n_layers = 12
n_heads = 12
net = DDP(Transformer(Options(dim, n_layers, n_heads)).cuda())
opt = torch.optim.AdamW(net.parameters())
for x in batches(16):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = net(x)
    loss.backward()
    opt.step()
