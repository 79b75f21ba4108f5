import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

card = torch.cuda.get_device_properties(0)
if card.total_memory / 1024**3 > 60:
    batch, steps = 8, 2
else:
    batch, steps = 2, 8
args = TrainingArguments(
    "out",
    per_device_train_batch_size=batch,
    gradient_accumulation_steps=steps,
    bf16=card.major >= 8,
)
model = AutoModelForCausalLM.from_pretrained("gpt2")
Trainer(model=model, args=args, train_dataset=rows).train()
