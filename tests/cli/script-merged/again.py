from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")
model = get_peft_model(model, LoraConfig(r=64, target_modules=["q_proj", "v_proj"]))
model.load_adapter("first", "default")
model = model.merge_and_unload()
model = get_peft_model(model, LoraConfig(r=8, target_modules=["o_proj"]))
trainer = Trainer(model, TrainingArguments("out", per_device_train_batch_size=2, bf16=True))
trainer.train()
trainer.model.merge_and_unload().save_pretrained("merged")
