# Arguments that argparse names otherwise, sets later, or is given by the text itself.
import argparse
import dataclasses

from sizes import BATCH
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--name", dest="model", default="gpt2")
parser.add_argument("--bs", type=int, default=BATCH)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--recompute", action=argparse.BooleanOptionalAction, default=True)
parser.set_defaults(steps=300)
args = parser.parse_args()

inner = argparse.ArgumentParser()
inner.add_argument("--accumulate", type=int, default=1)
inner.add_argument("--half", action="store_true")
own = inner.parse_args(["--accumulate", "4", "--half"])

first = TrainingArguments("first", per_device_train_batch_size=16)
model = AutoModelForCausalLM.from_pretrained(args.model)
training = TrainingArguments(
    "out",
    per_device_train_batch_size=args.bs,
    gradient_accumulation_steps=own.accumulate,
    bf16=own.half,
    max_steps=args.steps,
    gradient_checkpointing=args.recompute,
)
training = dataclasses.replace(training, max_grad_norm=0.5)
Trainer(model=model, args=first).train()
trainer = Trainer(model=model, args=training)
trainer.args.optim = "adafactor"
trainer.train()
