import argparse
from transformers import AutoModelForCausalLM
from engine import Trainer

p = argparse.ArgumentParser()
p.add_argument("--batch_size", type=int, default=4)
p.add_argument("--accum", type=int, default=2)
p.add_argument("--epochs", type=int, default=2)
p.add_argument("--lr", type=float, default=1e-4)
p.add_argument("--max_length", type=int, default=1024)
args = p.parse_args()
model = AutoModelForCausalLM.from_pretrained("gpt2-medium")
t = Trainer(model, load(args), args)
t.train()
