import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


class Settings:
    def __init__(self, name="gpt2-large", batch=8):
        self.name = name
        self.batch = batch


class Runner:
    def __init__(self, settings, lr=1e-4):
        self.settings = settings
        self.lr = lr
        self.build()

    def build(self):
        self.model = DDP(AutoModelForCausalLM.from_pretrained(self.settings.name))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.lr)

    def loader(self, texts):
        return DataLoader(texts, batch_size=self.settings.batch, shuffle=True)

    def train(self, texts):
        for batch in self.loader(texts):
            loss = self.model(**batch).loss
            loss.backward()
            self.optimizer.step()


def main():
    runner = Runner(Settings(batch=2))
    runner.train(read_texts())


main()
