import argparse

from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

p = argparse.ArgumentParser()
p.add_argument("--per-device-batch", type=int, default=16)
args = p.parse_args()
settings = TrainingArguments("out", per_device_train_batch_size=args.per_device_batch)
Trainer(model=AutoModelForMaskedLM.from_pretrained("roberta-base"), args=settings).train()
