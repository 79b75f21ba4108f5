import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Scorer(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        model = AutoModelForCausalLM.from_pretrained(name)
        self.transformer = model.transformer
        self.score = torch.nn.Linear(model.config.n_embd, 1, bias=False)

    def forward(self, input_ids, attention_mask):
        hidden = self.transformer(input_ids, attention_mask=attention_mask)[0]
        better, worse = self.score(hidden).squeeze(-1)[:, -1].chunk(2)
        return {"loss": -torch.log(torch.sigmoid(better - worse)).mean()}


model = Scorer("gpt2-xl")
arguments = TrainingArguments("out", per_device_train_batch_size=2, bf16=True, max_steps=100)
Trainer(model=model, args=arguments, train_dataset=pairs).train()
