"""A helper that would make another method's description, and LoRA that is made."""
from lab.settings import kinds
from peft import AdaLoraConfig, LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def adapt(model, config):
    if config.peft_type in kinds():
        config = AdaLoraConfig(**config.to_dict())
    return get_peft_model(model, config)


config = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.1)
model = adapt(AutoModelForCausalLM.from_pretrained("gpt2-medium"), config)
arguments = TrainingArguments(output_dir="out", per_device_train_batch_size=2, bf16=True)
Trainer(model=model, args=arguments, train_dataset=tokens).train()
