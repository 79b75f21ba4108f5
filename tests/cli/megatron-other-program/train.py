# A program of its own, whose options are called as Megatron's are.
import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--num_layers", type=int, default=12)
parser.add_argument("--hidden_size", type=int, default=768)
parser.add_argument("--tp_size", type=int, default=1)
args = parser.parse_args()
