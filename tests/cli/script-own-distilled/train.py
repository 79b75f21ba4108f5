import torch, torch.nn.functional as F
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
big = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype=torch.bfloat16).eval()
small = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B", torch_dtype=torch.bfloat16)
loader = DataLoader(ds, batch_size=4)
opt = torch.optim.AdamW(small.parameters())
max_len = 1024
for b in loader:
    with torch.no_grad():
        t = big(**b).logits
    s = small(**b).logits
    loss = F.kl_div(F.log_softmax(s, -1), F.softmax(t, -1), reduction="batchmean")
    loss.backward(); opt.step(); opt.zero_grad()
