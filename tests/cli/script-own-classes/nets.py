from dataclasses import dataclass

import torch.nn as nn


@dataclass
class LlamaConfig:
    words: int
    n_embd: int = 512
    num_layers: int = 6


class LlamaForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.recompute = True
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.num_layers)])

    def set_activation_checkpointing(self, on):
        self.recompute = on
