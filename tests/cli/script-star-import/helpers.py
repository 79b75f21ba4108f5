from datasets import load_dataset
from torch.utils.data import DataLoader


def batches(size):
    return DataLoader(load_dataset("text"), batch_size=size)


def round_up(n, to):
    return n if n % to == 0 else n + to - n % to
