from transformers import TrainingArguments


def options():
    return TrainingArguments("out", per_device_train_batch_size=7, bf16=True)
