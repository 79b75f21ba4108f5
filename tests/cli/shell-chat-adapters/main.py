import argparse
import deepspeed
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM
from utils.ds_utils import get_train_ds_config

parser = argparse.ArgumentParser()
parser.add_argument("--data_split", type=str, default="2,4,4")
parser.add_argument("--model_name_or_path", type=str)
parser.add_argument("--per_device_train_batch_size", type=int, default=16)
parser.add_argument("--max_seq_len", type=int, default=512)
parser.add_argument("--num_train_epochs", type=int, default=1)
parser.add_argument("--zero_stage", type=int, default=0)
parser.add_argument("--lora_dim", type=int, default=0)
parser.add_argument("--lora_module_name", type=str, default="decoder.layers.")
parser.add_argument("--only_optimize_lora", action="store_true")
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()

ds_config = get_train_ds_config(offload=False, stage=args.zero_stage)
model = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)
model, optimizer, _, _ = deepspeed.initialize(model=model, args=args, config=ds_config)
for batch in DataLoader(texts, batch_size=args.per_device_train_batch_size):
    loss = model(**batch, use_cache=False).loss
    model.backward(loss)
    model.step()
