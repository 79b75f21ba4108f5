# a function of a module next to the script loads its document; texts are padded to 512
# tokens before the trainer, whose default is 1024, has them
from helpers import load_settings
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

settings = load_settings("tune")
model = AutoModelForCausalLM.from_pretrained(settings["base"], torch_dtype="bfloat16")
adapters = LoraConfig(r=settings["adapters"]["r"], target_modules=settings["adapters"]["targets"])
arguments = SFTConfig(per_device_train_batch_size=settings["batch"], bf16=True)
tokenizer.model_max_length = 512
texts = data.map(lambda text: tokenizer(text, padding="max_length", max_length=tokenizer.model_max_length))
SFTTrainer(model=model, args=arguments, train_dataset=texts, peft_config=adapters).train()
