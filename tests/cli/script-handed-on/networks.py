import torch
from transformers import AutoModelForCausalLM


class Network(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.body = AutoModelForCausalLM.from_pretrained(name)

    def gradient_checkpointing_enable(self):
        self.body.gradient_checkpointing_enable()


def make(name):
    return Network(name)
