import torch, torch.nn as nn, torch.nn.functional as F
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class CastedLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight.to(x.dtype))

class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q = CastedLinear(dim, dim, bias=False)
        self.k = CastedLinear(dim, dim, bias=False)
        self.v = CastedLinear(dim, dim, bias=False)
        self.o = CastedLinear(dim, dim, bias=False)
    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))

class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = Attention(dim, heads)
        self.up = CastedLinear(dim, 4 * dim, bias=False)
        self.down = CastedLinear(4 * dim, dim, bias=False)
    def forward(self, x):
        x = x + self.attn(x)
        return x + self.down(F.relu(self.up(x)).square())

class GPT(nn.Module):
    def __init__(self, vocab, layers, dim, heads):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.head = CastedLinear(dim, vocab, bias=False)
    def forward(self, idx, y):
        x = self.wte(idx)
        for b in self.blocks:
            x = b(x)
        return F.cross_entropy(self.head(x).flatten(0, 1), y.flatten())

dist.init_process_group("nccl")
torch.set_float32_matmul_precision("high")
model = GPT(32768, 12, 768, 6).cuda()
for m in model.modules():
    if isinstance(m, nn.Embedding):
        m.bfloat16()
model = DDP(model)
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
batch_size, seq_len = 8, 1024
def get_batch(batch_size, seq_len):
    x = torch.randint(0, 32768, (batch_size, seq_len + 1)).cuda()
    return x[:, :-1], x[:, 1:]
for step in range(1000):
    x, y = get_batch(batch_size, seq_len)
    loss = model(x, y)
    loss.backward()
    opt.step()
    opt.zero_grad()
