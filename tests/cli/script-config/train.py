import os, torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM
seq_length = 4096
config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4)
config.num_hidden_layers = 16
model = LlamaForCausalLM(config).cuda()
if os.environ.get("COMPILE"):
    model = torch.compile(model)
model = DDP(model, bucket_cap_mb=50, gradient_as_bucket_view=True)
loader = DataLoader(dataset, batch_size=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
gradient_accumulation_steps = 8
for step, batch in enumerate(loader):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**batch).loss / gradient_accumulation_steps
    loss.backward()
