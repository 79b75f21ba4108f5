from transformers import Trainer, TrainingArguments


def train(peft_model, rows):
    args = TrainingArguments("out", per_device_train_batch_size=4)
    Trainer(model=peft_model, args=args, train_dataset=rows).train()
