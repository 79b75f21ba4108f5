from transformers import AutoModelForImageTextToText, Trainer, TrainingArguments

model = AutoModelForImageTextToText.from_pretrained("llava-hf/llava-1.5-7b-hf")
old = load_old()
old.vision_tower.requires_grad_(False)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=1, bf16=True)
Trainer(model=model, args=args, train_dataset=data).train()
