"""A loop whose batches no loader makes: how many sequences they have is not said."""
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import AutoModelForCausalLM

model = DDP(AutoModelForCausalLM.from_pretrained("gpt2-xl").cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
max_length = 1024
for batch in stream("shards", max_length):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**batch).loss
    loss.backward()
    optimizer.step()
