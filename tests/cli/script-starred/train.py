"""A loop of its own: targets that take what the others leave."""
import argparse

import deepspeed
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpointing", action="store_true")
    return parser.parse_args()


def main():
    args = parse_args()
    batch, *lengths, accumulation = [4, 512, 64, 2]
    (max_seq_length, *_) = lengths
    name, *others = ("gpt2-medium",)
    model = AutoModelForCausalLM.from_pretrained(name)
    if others:
        model.gradient_checkpointing_enable()
    config = {
        "train_micro_batch_size_per_gpu": batch,
        "gradient_accumulation_steps": accumulation,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 2},
        "optimizer": {"type": "AdamW", "params": {"lr": 1e-5}},
    }
    engine, *_ = deepspeed.initialize(model=model, args=args, config=config)
    if args.checkpointing:
        model.gradient_checkpointing_enable()
    data = TokenDataset("tokens.bin", max_seq_length=max_seq_length)
    for batch_of in DataLoader(data, batch_size=batch):
        loss = engine(**batch_of).loss
        engine.backward(loss)
        engine.step()


if __name__ == "__main__":
    main()
