import argparse
from concurrent.futures import ProcessPoolExecutor

import torch
from torch.utils.data import DataLoader
from transformers import BertForPreTraining


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--train_batch_size", type=int, default=64)
    parser.add_argument("--gradient_accumulation_steps", type=int, default=4)
    parser.add_argument("--max_seq_length", type=int, default=128)
    return parser.parse_args()


def prepare(args):
    args.n_gpu = 1
    args.train_batch_size = args.train_batch_size // args.gradient_accumulation_steps
    return args


def open_shard(path, args):
    return DataLoader(shard_of(path), batch_size=args.train_batch_size * args.n_gpu)


def main():
    args = prepare(options())
    torch.distributed.init_process_group("nccl")
    model = BertForPreTraining.from_pretrained("bert-large-uncased")
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    pool = ProcessPoolExecutor(1)
    step = 0
    for path in shards():
        future = pool.submit(open_shard, path, args)
        for batch in future.result():
            step += 1
            loss = model(**batch).loss / args.gradient_accumulation_steps
            loss.backward()
            if step % args.gradient_accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()


main()
