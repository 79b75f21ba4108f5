"""Fine-tunes a model whose sequences the program deals out itself."""
import argparse

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--model_name", default="meta-llama/Llama-2-7b-hf")
parser.add_argument("--batch_size", type=int, default=1)
parser.add_argument("--seq_length", type=int, default=4096)
parser.add_argument("--sp_size", type=int, default=4)
parser.add_argument("--tp_size", type=int, default=1)


def main():
    args = parser.parse_args()
    accelerator = Accelerator(gradient_accumulation_steps=2)
    model = AutoModelForCausalLM.from_pretrained(args.model_name, torch_dtype=torch.bfloat16)
    split_sequences(model, args.sp_size)
    loader = DataLoader(read(args.seq_length), batch_size=args.batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()


main()
