import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from transformers import GPT2Config, GPT2LMHeadModel

torch.distributed.init_process_group("nccl")
model = GPT2LMHeadModel(GPT2Config(n_layer=24, n_embd=1024, n_head=16)).cuda()
model = DistributedDataParallel(model, bucket_cap_mb=50)
model.register_comm_hook(state=None, hook=default_hooks.bf16_compress_hook)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
loader = torch.utils.data.DataLoader(dataset, batch_size=8)
for batch in loader:
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(batch, labels=batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
