import copy

import torch.nn as nn
from torch.nn.modules.utils import _pair

import sizes


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.query = nn.Linear(config.width, config.width)
        self.key = nn.Linear(config.width, config.width)
        self.value = nn.Linear(config.width, config.width)
        self.out = nn.Linear(config.width, config.width)
        self.up = nn.Linear(config.width, config.body["mlp_dim"])
        self.down = nn.Linear(config.body["mlp_dim"], config.width)


class Pictures(nn.Module):
    def __init__(self, config, img_size=224, classes=1000):
        super().__init__()
        patch_size = _pair(config.patches["size"])
        self.patches = nn.Conv2d(3, config.width, kernel_size=patch_size, stride=patch_size)
        self.layers = nn.ModuleList()
        for _ in range(config.body["num_layers"]):
            layer = Layer(config)
            self.layers.append(copy.deepcopy(layer))
        self.head = nn.Linear(config.width, classes)


MODELS = {"small": sizes.get_small_config()}
