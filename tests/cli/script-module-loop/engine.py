import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, data, cfg):
        self.cfg = cfg
        self.model = DDP(model)
        self.loader = DataLoader(data, batch_size=cfg.batch_size)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)

    def run_batch(self, batch, i):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.model(**batch).loss / self.cfg.accum
        loss.backward()
        if (i + 1) % self.cfg.accum == 0:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.opt.zero_grad()

    def train(self):
        for epoch in range(self.cfg.epochs):
            for i, b in enumerate(self.loader):
                self.run_batch(b, i)
