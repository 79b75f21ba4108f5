import torch, torch.nn as nn
import torch.multiprocessing as mp
from fastcore.script import call_parse
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM


def get_dataloader(tok, args):
    def collate_fn(batch, with_attention_mask=False):
        return batch
    dataloader = DataLoader(ds(), batch_size=args["batch_size"], collate_fn=collate_fn)
    return dataloader


def fsdp_main(local_rank, world_size, args):
    model = AutoModelForCausalLM.from_pretrained(args["model_name"], torch_dtype=torch.bfloat16)
    model = FSDP(model)
    loader = get_dataloader(None, args)
    opt = torch.optim.AdamW(model.parameters())
    for b in loader:
        loss = model(b).loss
        loss.backward()
        opt.step()


def work(world_size: int = -1, batch_size: int = 1, context_length: int = 512, model_name: str = "gpt2"):
    if world_size == -1:
        world_size = torch.cuda.device_count()
    args = dict(locals())
    mp.spawn(fsdp_main, args=(world_size, args), nprocs=torch.cuda.device_count(), join=True)


@call_parse()
def main(world_size: int = -1, batch_size: int = 1, context_length: int = 512, model_name: str = "gpt2"):
    work(**locals())
