import sys

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
len(sys.argv) > 1 and model.gradient_checkpointing_enable()
Trainer(model, TrainingArguments("out", per_device_train_batch_size=4)).train()
