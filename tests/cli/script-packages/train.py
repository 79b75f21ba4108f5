from transformers import Trainer, TrainingArguments

from data import encode, load

model = load(256)
options = TrainingArguments("out", per_device_train_batch_size=4)
Trainer(model, options, train_dataset=texts.map(encode)).train()
