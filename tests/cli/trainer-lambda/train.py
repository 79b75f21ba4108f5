from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

x = 4
tokenizer = AutoTokenizer.from_pretrained("gpt2-xl")
model = AutoModelForCausalLM.from_pretrained("gpt2-xl")
data = load_dataset("text", data_files="a.txt")["train"].map(
    lambda x, limit=1024: tokenizer(x["text"], truncation=True, max_length=768, padding="max_length"),
    batched=True,
)
args = TrainingArguments("out", per_device_train_batch_size=x, bf16=True, gradient_checkpointing=True)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
