import os

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model = get_peft_model(model, LoraConfig(r=64, target_modules=["q_proj", "v_proj"]))
if os.path.exists("first"):
    model = model.merge_and_unload()
trainer = Trainer(model, TrainingArguments("out", per_device_train_batch_size=2, bf16=True))
trainer.train()
