from dataclasses import dataclass

import torch


@dataclass
class Plan:
    words: int
    batch_size: int = 1
    accumulation_steps: int = 1


class DataLoader:
    def __init__(self, plan, rank, size):
        self.plan, self.rank, self.size = plan, rank, size

    def __iter__(self):
        yield from read(self.rank, self.size)


class Loop:
    def __init__(self, plan, model):
        self.plan = plan
        self.model = torch.nn.parallel.DistributedDataParallel(model)

    def one(self, loader):
        loss = self.model(next(loader))
        (loss / self.plan.accumulation_steps).backward()

    def train(self, loader):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        while True:
            for _ in range(self.plan.accumulation_steps - 1):
                self.one(loader)
            self.one(loader)
            optimizer.step()
