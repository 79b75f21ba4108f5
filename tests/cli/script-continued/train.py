import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments, Trainer
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype=torch.bfloat16)
model = PeftModel.from_pretrained(model, "out/stage1", is_trainable=True)
tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B", model_max_length=2048)
args = TrainingArguments(output_dir="o", per_device_train_batch_size=2, gradient_accumulation_steps=4, bf16=True)
Trainer(model=model, args=args, train_dataset=ds).train()
