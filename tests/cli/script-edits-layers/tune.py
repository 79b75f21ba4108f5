# Layers are left out of a model that is loaded, and its head is another.
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.2-1B", torch_dtype=torch.bfloat16)
del model.model.layers[12:]
model.lm_head = torch.nn.Linear(2048, 4096, bias=False)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=4, max_steps=100)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
