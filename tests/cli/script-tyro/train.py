from dataclasses import dataclass
import torch
import tyro
from torch.utils.data import DataLoader
from torch.nn.parallel import DistributedDataParallel as DDP
from transformers import AutoModelForCausalLM, AutoTokenizer


@dataclass
class Config:
    model_name: str = "gpt2-medium"
    batch_size: int = 8
    grad_every: int = 4
    seq_len: int = 1024
    lr: float = 3e-4


def main(cfg: Config):
    tok = AutoTokenizer.from_pretrained(cfg.model_name)
    model = AutoModelForCausalLM.from_pretrained(cfg.model_name)
    model = DDP(model.cuda())
    ds = ds.map(lambda x: tok(x["text"], max_length=cfg.seq_len, truncation=True, padding="max_length"))
    loader = DataLoader(ds, batch_size=cfg.batch_size)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for i, batch in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(**batch, labels=batch["input_ids"]).loss / cfg.grad_every
        loss.backward()
        if (i + 1) % cfg.grad_every == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            opt.zero_grad()


if __name__ == "__main__":
    main(tyro.cli(Config))
