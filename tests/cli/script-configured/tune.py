from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments

config = AutoConfig.from_pretrained("gpt2", cache_dir="cache")
config.num_hidden_layers = 6
model = AutoModelForCausalLM.from_pretrained("gpt2", config=config)
trainer = Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=4))
trainer.train()
