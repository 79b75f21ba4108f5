import argparse
import json

from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def completed(config):
    if "mode" not in config:
        raise ValueError("no mode")
    if "max_tokens" not in config:
        config.max_tokens = 768
    return config


def train(args):
    model = AutoModelForCausalLM.from_pretrained(args.model_id)
    tokenizer = AutoTokenizer.from_pretrained(args.model_id)
    tokenizer(text, max_length=args.max_tokens, truncation=True, padding="max_length")
    Trainer(model, TrainingArguments("out", per_device_train_batch_size=args.batch)).train()


parser = argparse.ArgumentParser()
parser.add_argument("--config", default=None)
given = parser.parse_args()
with open(given.config) as file:
    config = json.load(file)
train(completed(argparse.Namespace(**config)))
