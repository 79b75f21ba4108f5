import argparse
import torch
from checks.words import check_args
from transformers import GPT2LMHeadModel
from torch.utils.data import DataLoader

def parse_args(args=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=str, default="small/a.json")
    parser.add_argument("--save_dir", type=str, default=None)
    parser.add_argument("--total", type=int, default=None)
    parser.add_argument("--accum", type=int, default=None)
    parser.add_argument("--batch_size", type=int, default=4)
    parser.add_argument("--optimizer", default="Adam")
    args = parser.parse_args(args)
    args = check_args(args)
    return args

def main(args):
    model = GPT2LMHeadModel.from_pretrained("gpt2").cuda()
    if args.optimizer.lower() == "adam":
        optimizer = torch.optim.Adam(model.parameters())
    elif args.optimizer.lower() == "sgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=1)
    for x in DataLoader(torch.load("a"), batch_size=args.batch_size):
        loss = model(x, labels=x).loss
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    args = parse_args(None)
    main(args)
