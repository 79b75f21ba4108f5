from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

from schedules import build


class Groups(Trainer):
    def create_optimizer(self):
        self.optimizer = build(self.model)
        return self.optimizer


model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
trainer = Groups(model, TrainingArguments("out", per_device_train_batch_size=8))
trainer.train()
