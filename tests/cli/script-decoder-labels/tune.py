from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")


def prepare(batch):
    inputs = tokenizer(batch["question"], max_length=96, padding="max_length", truncation=True)
    labels = tokenizer(batch["reply"], max_length=320, padding="max_length", truncation=True)
    inputs["labels"] = labels["input_ids"]
    return inputs


args = Seq2SeqTrainingArguments("out", per_device_train_batch_size=4, bf16=True)
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=data.map(prepare, batched=True))
trainer.train()
