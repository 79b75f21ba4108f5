import torch
from dataclasses import dataclass
from torch.nn.parallel import DistributedDataParallel as DDP
from my_layers import Decoder


@dataclass
class Config:
    n_layer: int = 2
    d_model: int = 128
    n_heads: int = 2
    vocab_size: int = 32000


torch.distributed.init_process_group("nccl")
config = Config(n_layer=16, d_model=1024, n_heads=16)
model = DDP(Decoder(config).cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
batch_size, seq_len = 8, 4096
for step in range(1000):
    x = torch.randint(0, config.vocab_size, (batch_size, seq_len)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
