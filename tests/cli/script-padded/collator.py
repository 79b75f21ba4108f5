from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
data = load_dataset("text", data_files="a.txt")["train"]
data = data.map(lambda row: tokenizer(row["text"], truncation=True, max_length=512))
Trainer(
    AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B"),
    TrainingArguments("out", per_device_train_batch_size=2, bf16=True),
    train_dataset=data,
    data_collator=DataCollatorForSeq2Seq(tokenizer, padding="max_length", max_length=768),
).train()
