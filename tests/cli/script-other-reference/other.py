from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
reference = AutoModelForCausalLM.from_pretrained("gpt2-medium")
DPOTrainer(model, reference, args=DPOConfig("out", per_device_train_batch_size=2, max_length=512)).train()
