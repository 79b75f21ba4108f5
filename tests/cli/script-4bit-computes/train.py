import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
from trl import SFTConfig, SFTTrainer

four = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float16)
model = AutoModelForCausalLM.from_pretrained("llama2-7b", quantization_config=four)
options = SFTConfig("out", per_device_train_batch_size=2, bf16=False, max_length=768)
trainer = SFTTrainer(model=model, args=options, peft_config=LoraConfig(r=16))
trainer.train()
