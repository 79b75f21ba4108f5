from transformers import AutoModelForCausalLM, Trainer

from settings import TrainingArguments

args = TrainingArguments(per_device_train_batch_size=2, bf16=True)
model = AutoModelForCausalLM.from_pretrained("gpt2")
trainer = Trainer(model=model, args=args)
trainer.train()
