import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer(text, max_length=512, truncation=True, padding="max_length")
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)
if torch.cuda.device_count() > 1:
    model.parallelize({0: [0, 1, 2, 3, 4, 5], 1: [6, 7, 8, 9, 10, 11]})
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"]))
model.set_adapter("default")
model.add_adapter("wide", LoraConfig(r=64, target_modules=["c_attn", "c_proj"]))
model.set_adapter("wide")
trainer = Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=4))
trainer.train()
