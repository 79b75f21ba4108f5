import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from nets import LlamaConfig, LlamaForCausalLM
from plan import Plan

plan = Plan()
torch.distributed.init_process_group("nccl")
inner_model = make(LlamaForCausalLM(LlamaConfig(words=32000, n_embd=768, num_layers=8)))
inner_model.set_activation_checkpointing(False)
inner_model.to(dtype=torch.bfloat16)
model = DDP(inner_model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for i, x in enumerate(DataLoader(texts(), batch_size=plan.batch_size)):
    loss = model(x) / plan.accumulation_steps
    loss.backward()
    if is_due(i):
        optimizer.step()
        optimizer.zero_grad()
