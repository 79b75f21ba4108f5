import os

import torch
import torch.nn as nn
import torch.nn.functional as F

from words import get_words, token_loader

depth = 12
device_batch_size = 16
max_seq_len = 1024
total_batch_size = 262144

ddp_world_size = int(os.environ.get("WORLD_SIZE", 1))
torch.distributed.init_process_group("nccl", rank=int(os.environ["RANK"]))
grad_accum_steps = total_batch_size // (device_batch_size * max_seq_len * ddp_world_size)
tokenizer = get_words()


class Block(nn.Module):
    def __init__(self, width, n_head):
        super().__init__()
        self.n_head = n_head
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, width, bias=False)
        self.v = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        y = F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)
        x = x + self.out(y)
        return x + self.down(F.relu(self.up(x)).square())


class Decoder(nn.Module):
    def __init__(self, width, words):
        super().__init__()
        self.body = nn.ModuleDict({
            "words": nn.Embedding(words, width),
            "blocks": nn.ModuleList([Block(width, width // 128) for _ in range(depth)]),
        })
        self.head = nn.Linear(width, words, bias=False)


class Muon(torch.optim.Optimizer):
    pass


model = Decoder(depth * 64, tokenizer.get_vocab_size()).cuda()
optimizers = [torch.optim.AdamW(model.head.parameters()), Muon(model.body.parameters())]
train_loader = token_loader(device_batch_size, max_seq_len, split="train")
for step in range(1000):
    for micro_step in range(grad_accum_steps):
        x, y = next(train_loader)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(x, y)
        (loss / grad_accum_steps).backward()
    for opt in optimizers:
        opt.step()
