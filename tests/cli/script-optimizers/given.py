from bitsandbytes.optim import PagedLion8bit
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
args = TrainingArguments("out", per_device_train_batch_size=8, optim="adamw_torch_fused")
trainer = Trainer(model, args, optimizers=(PagedLion8bit(model.parameters(), lr=1e-5), None))
trainer.train()
