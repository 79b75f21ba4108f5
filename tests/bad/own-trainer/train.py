"""A trainer of the script's own, by the name of a library's."""
import torch
import yaml


class SFTTrainer:
    def __init__(self, config):
        self.config = config

    def fit(self):
        torch.distributed.init_process_group("nccl")


def main(config):
    trainer = SFTTrainer(config=config)
    trainer.fit()


if __name__ == "__main__":
    main(yaml.safe_load(open("own.yaml")))
