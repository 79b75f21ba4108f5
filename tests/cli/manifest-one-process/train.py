from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B")
args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=2,
    bf16=True,
    gradient_checkpointing=True,
)
rows = tokenizer(texts, max_length=1024, truncation=True, padding="max_length")
Trainer(model=model, args=args, train_dataset=rows).train()
