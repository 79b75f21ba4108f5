import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import GPT2LMHeadModel

torch.distributed.init_process_group("nccl")
amp = torch.autocast("cuda", dtype=torch.bfloat16)
model = DDP(GPT2LMHeadModel.from_pretrained("gpt2").cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
block_size = 512
loader = DataLoader(torch.load("tokens.pt"), batch_size=4)


def router_loss(logits):
    # a sum over many words stays in 32 bits
    with torch.autocast("cuda", enabled=False):
        return torch.logsumexp(logits.float(), dim=-1).mean()


for batch in loader:
    with amp:
        out = model(batch, labels=batch)
        loss = out.loss + router_loss(out.logits)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
