import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer
name = "Qwen/Qwen2.5-0.5B-Instruct"
tok = AutoTokenizer.from_pretrained(name)
policy = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16).cuda()
old = None
opt = torch.optim.AdamW(policy.parameters(), lr=1e-6)
loader = DataLoader(prompts, batch_size=8)
max_length = 512
for batch in loader:
    with torch.no_grad():
        out = policy.generate(**batch, max_new_tokens=256, num_return_sequences=8, do_sample=True)
    rewards = reward_fn(out)
    adv = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
    logits = policy(out).logits
    loss = -(adv * logp(logits, out)).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
