import torch
import yaml
from box import Box
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

CONFIG = "conf.yaml"


def load(path):
    with open(path) as f:
        return Box(yaml.safe_load(f))


def main():
    cfg = load(CONFIG)
    model = AutoModelForCausalLM.from_pretrained(cfg.model.name, torch_dtype=torch.bfloat16)
    loader = DataLoader(texts, batch_size=cfg.training.batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    for i, batch in enumerate(loader):
        model(**batch).loss.backward()
        if (i + 1) % cfg.training.gradient_accumulation_steps == 0:
            optimizer.step()


if __name__ == "__main__":
    main()
