import os

import torch
from transformers import AutoModelForCausalLM
from trl import (
    GRPOConfig,
    GRPOTrainer,
    ModelConfig,
    SFTConfig,
    SFTTrainer,
    TrlParser,
)

mode = os.getenv("MODE")
if mode == "sft":
    kind = SFTConfig
elif mode == "grpo":
    kind = GRPOConfig
else:
    raise ValueError(mode)
args, model_args = TrlParser((kind, ModelConfig)).parse_args_and_config()
torch.backends.cuda.matmul.allow_tf32 = True
model = AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path)
if mode == "sft":
    trainer = SFTTrainer(model=model, args=args)
else:
    trainer = GRPOTrainer(model=model, args=args)
trainer.train()
