from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")


class Pads:
    def __call__(self, rows):
        return tokenizer.pad(rows, padding="max_length", max_length=640, return_tensors="pt")


data = load_dataset("text", data_files="a.txt")["train"]
data = data.map(lambda row: tokenizer(row["text"], truncation=True, max_length=512))
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
args = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
Trainer(model, args, train_dataset=data, data_collator=Pads()).train()
