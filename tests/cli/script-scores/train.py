import torch
from models import make
from transformers import Trainer, TrainingArguments


class Pairs(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        scores = model(**inputs)
        half = scores.shape[0] // 2
        chosen, rejected = scores[:half], scores[half:]
        loss = -torch.log(torch.sigmoid(chosen - rejected)).mean()
        return (loss, scores) if return_outputs else loss


reward_model = make("gpt2")
args = TrainingArguments("out", per_device_train_batch_size=4, fp16=True)
Pairs(reward_model, args).train()
