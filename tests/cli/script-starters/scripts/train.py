import argparse

from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--model_name", type=str)
parser.add_argument("--length", type=int, default=128)
args, _ = parser.parse_known_args()


def encode(batch):
    return tokenizer(batch["text"], padding="max_length", truncation=True, max_length=args.length)


model = AutoModelForSequenceClassification.from_pretrained(args.model_name)
trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="out", per_device_train_batch_size=16),
    train_dataset=dataset.map(encode, batched=True),
)
trainer.train()
