from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model.requires_grad_(True)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj"]))
for name, parameter in model.named_parameters():
    if "lora" in name:
        parameter.requires_grad = True
Trainer(model, TrainingArguments("out", per_device_train_batch_size=2, bf16=True)).train()
