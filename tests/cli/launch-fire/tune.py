# fire hands the command's words to the function by its names; accumulation is shared out
# among the ranks that torchrun starts.
import os

import fire
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def main(
    base: str = "gpt2",
    total: int = 256,
    each: int = 4,
    longest: int = 256,
    rank: int = 8,
    targets: list = ["q_proj", "v_proj"],
):
    steps = total // each
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        steps = steps // ranks
    tokenizer = AutoTokenizer.from_pretrained(base)
    model = AutoModelForCausalLM.from_pretrained(base, torch_dtype=torch.bfloat16)
    model = get_peft_model(model, LoraConfig(r=rank, lora_alpha=16, target_modules=targets))

    def cut(row):
        return tokenizer(row["text"], truncation=True, max_length=longest, padding="max_length")

    arguments = TrainingArguments(
        output_dir="out",
        per_device_train_batch_size=each,
        gradient_accumulation_steps=steps,
        bf16=True,
        max_steps=200,
    )
    Trainer(model=model, args=arguments, train_dataset=[cut({"text": ""})]).train()


if __name__ == "__main__":
    fire.Fire(main)
