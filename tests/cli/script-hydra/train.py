import hydra
import torch
from omegaconf import DictConfig
from torch.utils.data import DataLoader
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer


@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg: DictConfig):
    acc = Accelerator(mixed_precision=cfg.training.precision, gradient_accumulation_steps=cfg.training.batch.gradient_accumulation_steps)
    tok = AutoTokenizer.from_pretrained(cfg.model.name)
    model = AutoModelForCausalLM.from_pretrained(cfg.model.name)
    ds = load_dataset("x").map(lambda e: tok(e["text"], truncation=True, padding="max_length", max_length=cfg.training.max_length))
    loader = DataLoader(ds, batch_size=cfg.training.batch.per_device_batch_size, shuffle=True)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.training.optimizer.lr)
    model, opt, loader = acc.prepare(model, opt, loader)
    for batch in loader:
        with acc.accumulate(model):
            loss = model(**batch, labels=batch["input_ids"]).loss
            acc.backward(loss)
            opt.step()
            opt.zero_grad()


main()
