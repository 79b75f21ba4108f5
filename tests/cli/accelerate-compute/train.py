import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig, Trainer, TrainingArguments

four = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float16)
model = AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=four)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"]))
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer(text, max_length=512, truncation=True, padding="max_length")
Trainer(model, TrainingArguments("out", per_device_train_batch_size=4)).train()
