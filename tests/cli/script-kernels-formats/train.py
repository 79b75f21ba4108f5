# Models are made in 16 bits, and products are in 8.
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torchao.float8 import convert_to_float8_training
from transformers import AutoModelForCausalLM

torch.set_default_dtype(torch.bfloat16)
model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B").cuda()
convert_to_float8_training(model)
model = DDP(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
train_loader = DataLoader(data, batch_size=2, shuffle=True)
for batch in train_loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
