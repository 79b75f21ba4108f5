"""Supervised fine-tuning by a file of settings."""
import argparse
from pathlib import Path

import yaml
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

ROOT = Path(__file__).resolve().parent.parent


def settings(path):
    with open(path, encoding="utf-8") as f:
        return yaml.safe_load(f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default=str(ROOT / "configs" / "sft.yaml"))
    args = parser.parse_args()
    cfg = settings(args.config)
    run, lora = cfg["training"], cfg.get("lora", {})
    model = AutoModelForCausalLM.from_pretrained(cfg["model"]["name"], dtype="bfloat16")
    trainer = SFTTrainer(
        model=model,
        args=SFTConfig(
            output_dir=run["output_dir"],
            per_device_train_batch_size=run["batch_size"],
            gradient_accumulation_steps=run.get("accumulation", 1),
            max_length=cfg["model"]["max_length"],
            packing=run["packing"],
            gradient_checkpointing=run["checkpointing"],
            bf16=True,
            max_steps=run["max_steps"],
        ),
        peft_config=LoraConfig(
            r=lora["r"],
            lora_alpha=2 * lora["r"],
            target_modules=lora["targets"],
            task_type="CAUSAL_LM",
        ),
    )
    trainer.train()


if __name__ == "__main__":
    main()
