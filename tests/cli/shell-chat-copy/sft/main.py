import argparse
import deepspeed
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
from utils import get_train_ds_config

parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path")
parser.add_argument("--max_seq_len", type=int, default=512)
parser.add_argument("--zero_stage", type=int, default=0)
parser.add_argument("--dtype", default="fp16")
parser.add_argument("--per_device_train_batch_size", type=int, default=4)
parser.add_argument("--gradient_checkpointing", action="store_true")
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained(args.model_name_or_path, torch_dtype=torch.bfloat16)
loader = DataLoader(data, batch_size=args.per_device_train_batch_size)
optimizer = torch.optim.AdamW(model.parameters())
engine, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer,
                                               config=get_train_ds_config(stage=args.zero_stage))
if args.gradient_checkpointing:
    engine.gradient_checkpointing_enable()
for batch in loader:
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
