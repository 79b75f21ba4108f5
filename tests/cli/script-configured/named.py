from transformers import AutoConfig, AutoModelForMaskedLM, Trainer, TrainingArguments

config = AutoConfig.from_pretrained("distilbert-base-uncased", num_labels=3)
model = AutoModelForMaskedLM.from_pretrained("distilbert-base-uncased", config=config)
trainer = Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=4))
trainer.train()
