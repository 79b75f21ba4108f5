import torch
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
ref_model = AutoModelForCausalLM.from_pretrained("gpt2")
ref_model.eval()
for parameter in model.parameters():
    # it is compared with, and not trained
    parameter.requires_grad = False
args = DPOConfig("out", per_device_train_batch_size=2, bf16=True, max_length=512)
DPOTrainer(model, ref_model, args=args).train()
