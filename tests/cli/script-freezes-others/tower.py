from transformers import AutoModelForImageTextToText, Trainer, TrainingArguments

model = AutoModelForImageTextToText.from_pretrained("llava-hf/llava-1.5-7b-hf")
for layer in model.vision_tower.vision_model.encoder.layers[:6]:
    for p in layer.parameters():
        p.requires_grad = False
args = TrainingArguments(output_dir="out", per_device_train_batch_size=1, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
