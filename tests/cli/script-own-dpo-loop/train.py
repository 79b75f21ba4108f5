from copy import deepcopy

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def main():
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    ref_model = deepcopy(model)
    ref_model.eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for batch in DataLoader(pairs, batch_size=4, shuffle=True):
        loss = preference(model, ref_model, batch)
        loss.backward()
        optimizer.step()


max_length = 512
main()
