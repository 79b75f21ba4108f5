import inspect
from dataclasses import dataclass
from typing import cast

import torch
import transformers
from peft import LoraConfig
from transformers import AutoModelForCausalLM, HfArgumentParser
from trl import SFTConfig, SFTTrainer


@dataclass
class Options:
    model_id: str = "gpt2-large"
    rank: int = 12


def known(of, values):
    names = set(inspect.signature(of.__init__).parameters.keys())
    return {k: v for k, v in values.items() if k in names}


(options,) = HfArgumentParser([Options]).parse_args_into_dataclasses()
options = cast(Options, options)
release = int(transformers.__version__.split(".")[0])
kind = "dtype" if release >= 5 else "torch_dtype"
model = AutoModelForCausalLM.from_pretrained(options.model_id, **{kind: torch.bfloat16})
values = {"output_dir": "out", "per_device_train_batch_size": 6, "bf16": True}
if "max_length" in inspect.signature(SFTConfig).parameters:
    values["max_length"] = 896
else:
    values["max_seq_length"] = 896
if release >= 4:
    reader = "processing_class"
else:
    reader = "tokenizer"
given = {"model": model, "peft_config": LoraConfig(r=options.rank)}
given[reader] = None
trainer = SFTTrainer(args=SFTConfig(**known(SFTConfig, values)), **given)
trainer.train()
