import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b", torch_dtype=torch.bfloat16)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=2, fsdp="full_shard auto_wrap")
Trainer(model=model, args=args, train_dataset=texts).train()
