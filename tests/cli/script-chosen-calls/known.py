from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

ADAPTERS = False
model = AutoModelForCausalLM.from_pretrained("gpt2")
model = get_peft_model(model, LoraConfig(r=9)) if ADAPTERS else model
ADAPTERS and model.gradient_checkpointing_enable()
args = TrainingArguments("out", per_device_train_batch_size=4) if not ADAPTERS else TrainingArguments("out")
Trainer(model, args).train()
