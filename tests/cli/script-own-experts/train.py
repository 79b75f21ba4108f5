import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, LAYERS, HEADS, EXPERTS, CHOSEN, WORDS = 768, 8, 12, 8, 2, 32000
seq_len = 1024


class Expert(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(width, 2048, bias=False)
        self.up = nn.Linear(width, 2048, bias=False)
        self.down = nn.Linear(2048, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    def __init__(self, width, n_experts, top_k):
        super().__init__()
        self.top_k = top_k
        self.router = nn.Linear(width, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(width) for _ in range(n_experts)])


class Block(nn.Module):
    def __init__(self, width, n_head):
        super().__init__()
        self.n_head = n_head
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.mlp = Experts(width, EXPERTS, CHOSEN)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        return self.mlp(self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList([Block(WIDTH, HEADS) for _ in range(LAYERS)])
        self.head = nn.Linear(WIDTH, WORDS, bias=False)


model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters())
loader = torch.utils.data.DataLoader(data, batch_size=8)
for x, y in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
