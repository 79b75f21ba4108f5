import argparse

import deepspeed
from transformers import AutoModelForCausalLM
from utils.ds_utils import get_train_ds_config

parser = argparse.ArgumentParser()
parser.add_argument("--model_name_or_path", type=str)
parser.add_argument("--per_device_train_batch_size", type=int, default=16)
parser.add_argument("--max_seq_len", type=int, default=512)
parser.add_argument("--zero_stage", type=int, default=0)
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
ds_config = get_train_ds_config(offload=False, stage=args.zero_stage)
rm_model = AutoModelForCausalLM.from_pretrained(args.model_name_or_path)
rm_model, optimizer, _, _ = deepspeed.initialize(model=rm_model, args=args, config=ds_config)
for batch in loader:
    outputs = rm_model(**batch, use_cache=False)
    rm_model.backward(outputs["loss"])
    rm_model.step()
