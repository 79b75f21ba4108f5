from transformers import AutoConfig, AutoModelForMaskedLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("ours/words-96k")
model = AutoModelForMaskedLM.from_config(AutoConfig.from_pretrained("roberta-base"))
model.resize_token_embeddings(len(tokenizer))
args = TrainingArguments("out", per_device_train_batch_size=8, bf16=True)
Trainer(model=model, args=args).train()
