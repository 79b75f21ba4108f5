import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Windowed(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attn = torch.nn.Linear(config.n_embd, config.n_embd)


model = AutoModelForCausalLM.from_pretrained("gpt2")
for i in range(len(model.transformer.h)):
    model.transformer.h[i].attn = Windowed(model.config)
sizes = [{"rows": 2}, {"rows": 4}]
sizes[1].rows = 8
args = TrainingArguments("out", per_device_train_batch_size=sizes[1].rows)
Trainer(model=model, args=args, train_dataset=rows).train()
