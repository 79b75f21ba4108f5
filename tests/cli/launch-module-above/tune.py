import argparse

from reading import read
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--config")
config = read(parser.parse_args().config)
model = AutoModelForCausalLM.from_pretrained(config["model"])
Trainer(model, TrainingArguments(**config["arguments"])).train()
