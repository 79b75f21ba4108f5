import argparse


def make_parser():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", "--cf", type=str, required=True)
    parser.add_argument("--kind", type=str, default="small")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--length", type=int, default=256)
    return parser
