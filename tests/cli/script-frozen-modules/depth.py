from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
for param in model.bert.embeddings.parameters():
    param.requires_grad = False
for layer in model.bert.encoder.layer[:depth]:
    for p in layer.parameters():
        p.requires_grad = False
args = TrainingArguments(output_dir="out", per_device_train_batch_size=8, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
