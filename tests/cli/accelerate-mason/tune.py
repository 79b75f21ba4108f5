from dataclasses import dataclass, field

import torch
from accelerate import Accelerator
from accelerate.utils import GradientAccumulationPlugin
from peft import LoraConfig, get_peft_model
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

from ours.parser import ArgumentParserPlus
from ours.kernels import best_attention


@dataclass
class Arguments:
    model_name_or_path: str | None = None
    max_seq_length: int | None = None
    per_device_train_batch_size: int = field(default=2)
    gradient_accumulation_steps: int = field(default=1)
    use_lora: bool = field(default=False)
    lora_rank: int = field(default=64)
    lora_alpha: float = field(default=16)
    gradient_checkpointing: bool = field(default=False)


def main(args: Arguments):
    accelerator = Accelerator(
        gradient_accumulation_plugin=GradientAccumulationPlugin(
            num_steps=args.gradient_accumulation_steps
        )
    )
    model = AutoModelForCausalLM.from_pretrained(
        args.model_name_or_path,
        torch_dtype=torch.bfloat16,
        attn_implementation=best_attention(),
    )
    if args.use_lora:
        config = LoraConfig(
            r=args.lora_rank,
            lora_alpha=args.lora_alpha,
            target_modules=["q_proj", "v_proj"],
        )
        model = get_peft_model(model, config)
    if args.gradient_checkpointing:
        model.gradient_checkpointing_enable()
    loader = DataLoader(rows(), batch_size=args.per_device_train_batch_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)


if __name__ == "__main__":
    parser = ArgumentParserPlus((Arguments,))
    (args,) = parser.parse_args_into_dataclasses()
    main(args)
