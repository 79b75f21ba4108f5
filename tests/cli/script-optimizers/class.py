import torch
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
args = TrainingArguments("out", per_device_train_batch_size=8)
Trainer(model, args, optimizer_cls_and_kwargs=(torch.optim.RMSprop, {"lr": 1e-4})).train()
