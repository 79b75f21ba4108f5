import os

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
args = TrainingArguments("out", per_device_train_batch_size=int(os.environ.get("BATCH_SIZE", "1")), bf16=True)
Trainer(model=model, args=args).train()
