from transformers import FlaxAutoModelForCausalLM, Trainer, TrainingArguments

model = FlaxAutoModelForCausalLM.from_pretrained("gpt2")
Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=8)).train()
