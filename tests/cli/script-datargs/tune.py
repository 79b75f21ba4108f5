from dataclasses import dataclass

from datargs import parse
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


@dataclass
class Args:
    model_checkpoint: str = "gpt2"
    per_device_train_batch_size: int = 8


def main(args: Args):
    settings = TrainingArguments("out", per_device_train_batch_size=args.per_device_train_batch_size)
    Trainer(model=AutoModelForCausalLM.from_pretrained(args.model_checkpoint), args=settings).train()


if __name__ == "__main__":
    main(parse(Args))
