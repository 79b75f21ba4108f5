import torch.nn.functional as F
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer(text, max_length=512, truncation=True, padding="max_length")
model = AutoModelForSequenceClassification.from_pretrained("gpt2", num_labels=1)


class Ranking(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        scores = model(input_ids=inputs["input_ids"])[0]
        return -F.logsigmoid(scores[0::2] - scores[1::2]).mean()


Ranking(model=model, args=TrainingArguments("out", per_device_train_batch_size=4, bf16=True)).train()
