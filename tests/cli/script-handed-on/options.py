import argparse


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="gpt2")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--recompute", action="store_true")
    return parser.parse_args()
