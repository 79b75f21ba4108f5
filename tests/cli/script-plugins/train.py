from accelerate import Accelerator, FullyShardedDataParallelPlugin, DeepSpeedPlugin
from torch.utils.data import DataLoader
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer
ds = DeepSpeedPlugin(zero_stage=3, gradient_accumulation_steps=2, offload_optimizer_device="cpu", gradient_clipping=1.0)
accelerator = Accelerator(mixed_precision="bf16", deepspeed_plugin=ds)
model = AutoModelForSequenceClassification.from_pretrained("bert-large-uncased")
tok = AutoTokenizer.from_pretrained("bert-large-uncased")
def f(x): return tok(x, max_length=128, truncation=True)
train_dataloader = DataLoader(d, shuffle=True, batch_size=16)
eval_dataloader = DataLoader(d, batch_size=32)
opt = torch.optim.AdamW(model.parameters())
