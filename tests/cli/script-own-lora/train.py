import torch
from datasets import load_dataset
from network import Lengths, add_lora
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

longest = 256


class Sized:
    def __init__(self):
        self.items = [1, 2, 3]

    def __len__(self):
        return len(self.items)


def main():
    sizes = Lengths.small()
    sizes.block_size = longest
    torch.distributed.init_process_group("nccl")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    add_lora(model, rank=4)
    model = torch.nn.parallel.DistributedDataParallel(model.cuda())
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
    sized = Sized()
    for x in DataLoader(load_dataset("text"), batch_size=len(sized)):
        loss = model(x[:, : sizes.block_size]).loss
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
