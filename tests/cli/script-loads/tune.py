# a function of a module next to the script loads its document
from helpers import load_settings
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

settings = load_settings("tune")
model = AutoModelForCausalLM.from_pretrained(settings["base"], torch_dtype="bfloat16")
adapters = LoraConfig(r=settings["adapters"]["r"], target_modules=settings["adapters"]["targets"])
arguments = SFTConfig(per_device_train_batch_size=settings["batch"], max_length=2048, bf16=True)
SFTTrainer(model=model, args=arguments, peft_config=adapters).train()
