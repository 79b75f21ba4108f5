import torch
import torch.distributed as dist
from transformers import GPT2LMHeadModel


class DividedAdam(torch.optim.AdamW):
    """Each rank updates its part of every parameter."""

    def step(self):
        world = dist.get_world_size()
        for group in self.param_groups:
            for p in group["params"]:
                part = torch.empty_like(p.grad[: p.shape[0] // world])
                dist.reduce_scatter_tensor(part, p.grad, op=dist.ReduceOp.AVG)


dist.init_process_group("nccl")
model = GPT2LMHeadModel.from_pretrained("gpt2").cuda()
optimizer = DividedAdam(model.parameters(), lr=1e-4)
batch_size, seq_len = 8, 1024
for step in range(1000):
    batch = torch.randint(0, 50257, (batch_size, seq_len)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch, labels=batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
