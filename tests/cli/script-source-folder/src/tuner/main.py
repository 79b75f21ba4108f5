import argparse

from transformers import Trainer, TrainingArguments
from tuner.nets import adapted

parser = argparse.ArgumentParser()
parser.add_argument("--size", default="gpt2")
parser.add_argument("--rank", type=int, default=4)
args = parser.parse_args()
options = TrainingArguments("out", per_device_train_batch_size=5, bf16=True)
trainer = Trainer(model=adapted(args.size, args.rank), args=options)
trainer.train()
