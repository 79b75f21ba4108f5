import argparse

import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--model_id", type=str)
parser.add_argument("--per_device_train_batch_size", type=int, default=1)
parser.add_argument("--bf16", type=bool, default=True if torch.cuda.get_device_capability()[0] == 8 else False)
parser.add_argument("--fsdp", type=str, default=None)
args, _ = parser.parse_known_args()
model = AutoModelForCausalLM.from_pretrained(args.model_id)
training = TrainingArguments(
    output_dir="/tmp",
    per_device_train_batch_size=args.per_device_train_batch_size,
    bf16=args.bf16,
    gradient_checkpointing=True,
    fsdp=args.fsdp,
)
Trainer(model=model, args=training, train_dataset=data).train()
