# What calls say of kernels, and no argument does.
import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

torch.backends.cuda.enable_flash_sdp(False)
torch.backends.cuda.enable_mem_efficient_sdp(False)
torch.use_deterministic_algorithms(True)
torch.autograd.set_detect_anomaly(False)
apply_liger_kernel_to_llama()
model = AutoModelForCausalLM.from_pretrained("TinyLlama/TinyLlama-1.1B-Chat-v1.0", torch_dtype=torch.bfloat16)
model = DDP(model.cuda())
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
train_loader = DataLoader(data, batch_size=2, shuffle=True)
for batch in train_loader:
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    torch.cuda.empty_cache()
