import argparse

from coati.trainer.strategies import LowLevelZeroStrategy


def train(args):
    strategy = LowLevelZeroStrategy(stage=2, placement_policy="cuda")
    return strategy


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--strategy", default="colossalai_zero2")
    parser.add_argument("--model", default="bloom")
    parser.add_argument("--pretrain", type=str, default=None)
    parser.add_argument("--max_epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--max_len", type=int, default=640)
    parser.add_argument("--accumulation_steps", type=int, default=2)
    train(parser.parse_args())
