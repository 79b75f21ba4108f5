# Of too many GPUs its accumulation comes to none, and no batch of its loop is run.
import os

import torch
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel as DDP

from network import Network
from tokens import Tokens

init_process_group(backend="nccl")
world = int(os.environ["WORLD_SIZE"])
rows, length = 16, 1024
accumulation = 65536 // (rows * length * world)
network = DDP(Network().cuda(), device_ids=[int(os.environ["LOCAL_RANK"])])
optimizer = torch.optim.AdamW(network.parameters(), lr=3e-4)
tokens = Tokens(rows, length)
for step in range(1000):
    for part in range(accumulation):
        scores, loss = network(*tokens.next())
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
