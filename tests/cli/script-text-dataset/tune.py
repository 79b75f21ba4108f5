from transformers import GPT2LMHeadModel, GPT2Tokenizer, TextDataset, Trainer, TrainingArguments

tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
rows = TextDataset(tokenizer=tokenizer, file_path="text.txt", block_size=192)
args = TrainingArguments("out", per_device_train_batch_size=4)
Trainer(model=model, args=args, train_dataset=rows).train()
