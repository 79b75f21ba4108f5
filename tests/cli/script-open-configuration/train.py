# The configuration is given what a file says that is not there.
import json
from transformers import BertConfig, BertForMaskedLM, Trainer, TrainingArguments

config = BertConfig(**json.load(open("sizes.json")))
model = BertForMaskedLM(config)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=8)
Trainer(model=model, args=args, train_dataset=data).train()
