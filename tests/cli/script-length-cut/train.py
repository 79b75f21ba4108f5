import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel


class Texts(IterableDataset):
    def __init__(self, rows, length_of):
        self.rows, self.length_of = rows, length_of
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")

    def __iter__(self):
        for row in self.rows:
            yield self.tokenizer(row, max_length=self.length_of(row), truncation=True, padding="max_length")


def main():
    device_batch_size = 32
    max_length = 256
    block_size = 1024
    torch.distributed.init_process_group("nccl")
    model = DDP(GPT2LMHeadModel(GPT2Config(n_positions=block_size)).cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for batch in DataLoader(Texts(open("rows.txt"), lambda row: max_length), batch_size=None):
        loss = model(batch, labels=batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


main()
