# neither the trainer's arguments nor who makes the model are in the text
from transformers import Trainer, TrainingArguments

from builder import build


def run(options):
    Trainer(model=build(options), args=TrainingArguments(**options.trainer)).train()
