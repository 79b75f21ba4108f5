import torch
from lightning.fabric import Fabric
from lightning.fabric.strategies import FSDPStrategy
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

blocks = {Block}
strategy = FSDPStrategy(auto_wrap_policy=blocks, activation_checkpointing_policy=None)
fabric = Fabric(accelerator="cuda", devices="auto", precision="bf16-true", strategy=strategy)
fabric.launch()
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in DataLoader(texts, batch_size=2):
    loss = model(**batch).loss
    fabric.backward(loss)
    optimizer.step()
