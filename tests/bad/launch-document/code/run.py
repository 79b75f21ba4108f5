import argparse

from omegaconf import OmegaConf
from train import main

parser = argparse.ArgumentParser()
parser.add_argument("--job", type=str, default="jobs/7b.yaml")
args = parser.parse_args()
main(OmegaConf.load(args.job))
