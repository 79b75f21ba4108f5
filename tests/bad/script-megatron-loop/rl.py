import torch
from megatron.bridge.training.initialize import initialize_megatron
from megatron.bridge.training.optim import setup_optimizer
from transformers import AutoModelForCausalLM

policy = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B")
optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-5)
for batch in loader:
    loss = policy(**batch).loss
    loss.backward()
    optimizer.step()
