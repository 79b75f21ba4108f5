import argparse
import torch
from torch.utils.data import DataLoader
from transformers import BertForMaskedLM

parser = argparse.ArgumentParser()
parser.add_argument("--per_gpu_train_batch_size", type=int, default=8)
parser.add_argument("--local_rank", type=int, default=-1)
args = parser.parse_args()

if args.local_rank == -1:
    args.n_gpu = torch.cuda.device_count()
else:
    torch.distributed.init_process_group(backend="nccl")
    args.n_gpu = 1
args.train_batch_size = args.per_gpu_train_batch_size * max(1, args.n_gpu)
model = BertForMaskedLM.from_pretrained("bert-base-uncased").cuda()
if args.n_gpu > 1:
    model = torch.nn.DataParallel(model)
if args.local_rank != -1:
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[args.local_rank])
optimizer = torch.optim.AdamW(model.parameters())
for batch in DataLoader(texts, batch_size=args.train_batch_size):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
