import argparse

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--max_prompt_len", type=int, default=512)
parser.add_argument("--max_ans_len", type=int, default=256)
parser.add_argument("--batch_size", type=int, default=2)
parser.add_argument("--train_steps", type=int, default=1000)
args = parser.parse_args()

model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m").cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
loader = DataLoader(data, batch_size=args.batch_size, collate_fn=collate)
for step, batch in enumerate(loader):
    if step == args.train_steps:
        break
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
