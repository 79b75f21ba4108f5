# A model with pictures, loaded as a language model: the tower is no part of it.
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3.5-4B")
args = TrainingArguments(output_dir="out", per_device_train_batch_size=2, bf16=True,
                         gradient_checkpointing=True)
Trainer(model=model, args=args, train_dataset=data).train()
