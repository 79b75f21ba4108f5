import torch
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModelForCausalLM, default_data_collator

NAME = "meta-llama/Llama-3.1-8B"

with torch.device("cpu"):
    pretrained = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=torch.bfloat16)
    weights = pretrained.state_dict()
with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(NAME), torch_dtype=torch.bfloat16)
for block in model.model.layers:
    fully_shard(block)
fully_shard(model)
model.to_empty(device="cuda")
set_model_state_dict(model=model, model_state_dict=weights, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))
del pretrained, weights

loader = DataLoader(tokenised(length=4096), batch_size=2, collate_fn=default_data_collator)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
for batch in loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
