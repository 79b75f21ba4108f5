import dataclasses

from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

BLOCK = 500
assert BLOCK % 64 == 0, "blocks are of whole tiles"

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")


def encode(batch):
    return tokenizer(batch["text"], max_length=512, truncation=True, padding="max_length")


class Evaluation:
    def prepare_for_evaluate(self, data):
        def encode_long(batch):
            return tokenizer(batch["text"], max_length=1024, truncation=True, padding="max_length")

        return data.map(encode_long)


base = TrainingArguments("out", per_device_train_batch_size=16, bf16=True)
args = dataclasses.replace(base, per_device_train_batch_size=4, gradient_accumulation_steps=2)
if settings.save_memory:
    model.gradient_checkpointing_enable()
trainer = Trainer(model, args, train_dataset=data.map(encode))
trainer.train()
