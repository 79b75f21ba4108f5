from transformers import WhisperForConditionalGeneration, Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperTokenizer
tokenizer = WhisperTokenizer.from_pretrained("openai/whisper-small")
def prep(b):
    b["labels"] = tokenizer(b["text"], max_length=225, truncation=True).input_ids
    return b
model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
trainer = Seq2SeqTrainer(model=model, args=Seq2SeqTrainingArguments("o", per_device_train_batch_size=16, fp16=True), train_dataset=d.map(prep))
trainer.train()
