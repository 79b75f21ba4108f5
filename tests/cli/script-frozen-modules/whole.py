from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

model = AutoModelForSequenceClassification.from_pretrained("roberta-base", num_labels=2)
for name, p in model.roberta.encoder.named_parameters():
    p.requires_grad = False
model.roberta.embeddings.requires_grad_(False)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=8, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
