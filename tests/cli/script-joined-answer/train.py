from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")


def collate(rows):
    asked = tokenizer([r["q"] for r in rows], max_length=640, truncation=True)
    answers = tokenizer([r["a"] for r in rows], max_length=128, truncation=True)
    pairs = zip(asked["input_ids"], answers["input_ids"])
    return pad([ask + answer for ask, answer in pairs])


model = AutoModelForCausalLM.from_pretrained("gpt2")
options = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
trainer = Trainer(model=model, args=options, data_collator=collate)
trainer.train()
