import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer(text, max_length=512, truncation=True, padding="max_length")
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"]))
Trainer(model, TrainingArguments("out", per_device_train_batch_size=4, bf16=True)).train()
