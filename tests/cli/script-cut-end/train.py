from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

LONGEST = 384
tokenizer = AutoTokenizer.from_pretrained("gpt2")


def encode(row):
    read = tokenizer(
        row["text"], truncation=True, max_length=LONGEST + 1, padding="max_length"
    )
    return {"input_ids": read["input_ids"][:-1], "labels": read["input_ids"][1:]}


rows = load().map(encode)
model = AutoModelForCausalLM.from_pretrained("gpt2")
options = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
trainer = Trainer(model=model, args=options, train_dataset=rows)
trainer.train()
