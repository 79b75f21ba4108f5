import torch
from transformers import AutoModelForCausalLM


class Scores(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        body = AutoModelForCausalLM.from_pretrained(name)
        self.config = body.config
        self.body = body.transformer
        self.score = torch.nn.Linear(self.config.n_embd, 1)


def make(name):
    reward_model = Scores(name)
    return reward_model
