import torch
from rollouts import PPO
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
ppo = PPO(model)
for prompts in open("prompts.txt"):
    for loss in ppo(prompts):
        loss.backward()
        optimizer.step()
