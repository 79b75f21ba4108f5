from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2)
for layer in model.bert.encoder.layer[:12:2]:
    for p in layer.parameters():
        p.requires_grad = False
args = TrainingArguments(output_dir="out", per_device_train_batch_size=8, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
