import argparse

import yaml
from own.trainer import Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    config = yaml.safe_load(open(parser.parse_args().config))
    Trainer(config).train()


main()
