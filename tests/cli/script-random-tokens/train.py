import torch
from torch.utils.data import Dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Made(Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, index):
        many = 768
        tokens = torch.randint(0, 50000, (many,))
        return {"input_ids": tokens, "labels": tokens}


model = AutoModelForCausalLM.from_pretrained("gpt2")
options = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
trainer = Trainer(model=model, args=options, train_dataset=Made())
trainer.train()
