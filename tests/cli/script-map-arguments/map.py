from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tok = AutoTokenizer.from_pretrained("gpt2")


def cut(rows, longest=1024):
    return tok(rows["text"], truncation=True, padding="max_length", max_length=longest)


how = dict(longest=512)
data = load_dataset("text", data_files="a.txt")["train"].map(cut, batched=True, fn_kwargs=how)
model = AutoModelForCausalLM.from_pretrained("gpt2")
Trainer(model, TrainingArguments("out", per_device_train_batch_size=2), train_dataset=data).train()
