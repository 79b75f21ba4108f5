import torch
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments


class Plain(Trainer):
    def create_optimizer(self):
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=self.args.learning_rate)
        return self.optimizer


model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
trainer = Plain(model, TrainingArguments("out", per_device_train_batch_size=8))
trainer.train()
