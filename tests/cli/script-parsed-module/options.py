import argparse


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--batch-size", type=int, default=32)
    parser.add_argument("--width", type=int, default=512)
    return parser.parse_args()
