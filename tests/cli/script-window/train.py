import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import GPT2LMHeadModel


class TokenLoader:
    def __init__(self, path, batch_size, seq_len):
        self.path, self.batch_size, self.seq_len = path, batch_size, seq_len

    def next(self):
        window = torch.load(self.path)[: self.batch_size * self.seq_len].view(self.batch_size, -1)
        return window[:, :-1], window[:, 1:]


torch.distributed.init_process_group("nccl")
model = DDP(GPT2LMHeadModel.from_pretrained("gpt2").cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
seq_len = 512
loader = TokenLoader("tokens.pt", batch_size=4, seq_len=seq_len + 1)
while True:
    x, y = loader.next()
    loss = model(x, labels=y).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
