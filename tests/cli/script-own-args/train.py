import torch
from torch.utils.data import DataLoader

from network import Args, Network


def train():
    batch_size = 4
    max_seq_len = 512
    args = Args(dim=512, n_layers=8, q_heads=8, words=32000)
    model = Network(args).cuda()
    loader = DataLoader(texts, batch_size=batch_size, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(batch).mean().backward()
        optimizer.step()


if __name__ == "__main__":
    train()
