import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Network(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.body = AutoModelForCausalLM.from_pretrained(name)

    def gradient_checkpointing_enable(self, **options):
        self.body.gradient_checkpointing_enable(**options)

    def half(self):
        return self.body.half()

    def add_adapter(self, config):
        self.body.add_adapter(config)

    def generate(self, **inputs):
        return self.body.generate(**inputs)


network = Network("gpt2")
Trainer(network, TrainingArguments("out", per_device_train_batch_size=4)).train()
