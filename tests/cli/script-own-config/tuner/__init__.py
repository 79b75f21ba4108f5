from dataclasses import dataclass


@dataclass
class SFTConfig:
    rows: int = 1


class SFTTrainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config

    def train(self):
        run(self.model, self.config.rows)
