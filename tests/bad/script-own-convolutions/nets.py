import torch.nn as nn


class Small(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.first = nn.Conv2d(3, width, kernel_size=3, padding=1)
        self.second = nn.Conv2d(width, width, 3, stride=2)
        self.head = nn.Linear(width, classes)


def make(name, width):
    if name == "small":
        return Small(width, 10)
    raise ValueError(name)
