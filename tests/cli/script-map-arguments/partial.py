from functools import partial

from datasets import load_dataset
from texts import cut
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

data = load_dataset("text", data_files="a.txt")["train"].map(partial(cut, longest=256), batched=True)
model = AutoModelForCausalLM.from_pretrained("gpt2")
Trainer(model, TrainingArguments("out", per_device_train_batch_size=2), train_dataset=data).train()
