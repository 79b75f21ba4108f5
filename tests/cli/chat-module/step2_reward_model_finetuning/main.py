import argparse

import deepspeed
from deepspeed.ops.adam import FusedAdam
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModel, AutoTokenizer

from chat.config import get_train_ds_config, set_dropout
from chat.scores import Scores, convert_linear_to_lora, fuse_lora


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model_name_or_path")
    parser.add_argument("--data_path")
    parser.add_argument("--data_split", default="6,2,2")
    parser.add_argument("--num_padding_at_beginning", type=int, default=1)
    parser.add_argument("--per_device_train_batch_size", type=int, default=16)
    parser.add_argument("--max_seq_len", type=int, default=512)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=1)
    parser.add_argument("--zero_stage", type=int, default=0)
    parser.add_argument("--offload", action="store_true")
    parser.add_argument("--dropout", type=float, default=None)
    parser.add_argument("--lora_dim", type=int, default=0)
    parser.add_argument("--lora_module_name", default="decoder.layers.")
    parser.add_argument("--only_optimize_lora", action="store_true")
    parser.add_argument("--output_dir")
    parser = deepspeed.add_config_arguments(parser)
    return parser.parse_args()


def main():
    args = parse_args()
    ds_config = get_train_ds_config(args.offload, stage=args.zero_stage)
    ds_config["train_micro_batch_size_per_gpu"] = args.per_device_train_batch_size
    config = AutoConfig.from_pretrained(args.model_name_or_path)
    set_dropout(config, args.dropout)
    tokenizer = AutoTokenizer.from_pretrained(args.model_name_or_path)
    model = Scores(AutoModel.from_pretrained(args.model_name_or_path, config=config))
    if args.lora_dim > 0:
        model = convert_linear_to_lora(model, args.lora_dim)
    loader = DataLoader(args.data_path, batch_size=args.per_device_train_batch_size)
    optimizer = FusedAdam(model.parameters(), lr=1e-5)
    model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, args=args, config=ds_config)
    for batch in loader:
        loss = model(batch)["loss"]
        model.backward(loss)
        model.step()
    model = fuse_lora(model)


main()
