import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader

from net import Decoder, Layer, Shape


def main():
    dist.init_process_group("nccl")
    small_decoder_config = Shape(words=32000)
    with torch.device("meta"):
        model = Decoder.of(small_decoder_config)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for module in model.modules():
        if isinstance(module, Layer):
            fully_shard(module, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for ids, labels in DataLoader(texts(seq_len=1024), batch_size=4):
        loss = model(ids, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
