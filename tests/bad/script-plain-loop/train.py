"""A loop of PyTorch alone; the model is a class of the program's own."""
import torch
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.data import DataLoader


class Decoder(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))


def main():
    model = Decoder(layers=24, width=2048)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for layer in model.layers:
        fully_shard(layer, mp_policy=policy)
    fully_shard(model, mp_policy=policy)
    loader = DataLoader(Tokens("train.bin"), batch_size=4, num_workers=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    for batch in loader:
        loss = model(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


main()
