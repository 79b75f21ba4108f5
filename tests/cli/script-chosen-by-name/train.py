import argparse
import torch
from torch.utils.data import DataLoader
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--model_size", required=True)
args = parser.parse_args()


def small():
    return GPT2LMHeadModel(GPT2Config(n_layer=12, n_embd=768, n_head=12, vocab_size=32000))


def large():
    return LlamaForCausalLM(LlamaConfig(num_hidden_layers=32, hidden_size=4096, num_attention_heads=32, vocab_size=32000))


models = {"gpt": small, "llama": large}
model = models[args.model_size]().cuda()
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
loader = DataLoader(data, batch_size=8)
for x in loader:
    loss = model(x[:, :512], labels=x).loss
    loss.backward()
    optimizer.step()
