# a class of arguments that is of another class of the text's own
from dataclasses import dataclass

import transformers
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer


@dataclass
class Common(transformers.TrainingArguments):
    bf16: bool = True
    gradient_accumulation_steps: int = 4


@dataclass
class Arguments(Common):
    model: str = "gpt2"
    per_device_train_batch_size: int = 2


parser = HfArgumentParser(Arguments)
(arguments,) = parser.parse_args_into_dataclasses()
model = AutoModelForCausalLM.from_pretrained(arguments.model)
Trainer(model=model, args=arguments, train_dataset=rows).train()
