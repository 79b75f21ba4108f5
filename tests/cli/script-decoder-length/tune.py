from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

max_target_length = 64
tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")


def prepare(batch):
    inputs = tokenizer(batch["text"], max_length=512, padding="max_length", truncation=True)
    with tokenizer.as_target_tokenizer():
        labels = tokenizer(batch["summary"], max_length=max_target_length, truncation=True)
    return {**inputs, "labels": labels["input_ids"]}


args = Seq2SeqTrainingArguments("out", per_device_train_batch_size=4, fp16=True)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=data.map(prepare, batched=True))
trainer.train()
