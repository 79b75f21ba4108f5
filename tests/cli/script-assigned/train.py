import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Patient(Trainer):
    def __init__(self, *args, wait=6, **kwargs):
        super().__init__(*args, **kwargs)
        self.args.gradient_accumulation_steps = wait
        self.args.max_grad_norm = 0.25


class Sizes:
    def __init__(self, args):
        self.args = args
        self.args.per_device_train_batch_size = 99


model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)
model.to("cuda").float()
options = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
trainer = Patient(model=model, args=options, wait=3)
trainer.train()
