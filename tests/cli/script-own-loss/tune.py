# a trainer whose loss compares two passes
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Consistent(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        first, second = model(**inputs), model(**inputs)
        return first.loss + (first.logits - second.logits).pow(2).mean()


def encode(row):
    return tokenizer(row["text"], max_length=512, padding="max_length")


model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
args = TrainingArguments(per_device_train_batch_size=8, bf16=True)
Consistent(model=model, args=args, train_dataset=rows.map(encode)).train()
