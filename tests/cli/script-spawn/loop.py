import torch
import torch.multiprocessing as mp
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModelForCausalLM


def train(rank, name, batch, max_length):
    config = AutoConfig.from_pretrained(name)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model = DistributedDataParallel(model.to(rank), device_ids=[rank])
    loader = DataLoader(texts(max_length), batch_size=batch)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW)
    grad_accum = 4
    for i, x in enumerate(loader):
        loss = model(**x).loss / grad_accum
        loss.backward()
        if (i + 1) % grad_accum == 0:
            optimizer.step()


if __name__ == "__main__":
    mp.spawn(train, args=("gpt2", 8, 512), nprocs=4)
