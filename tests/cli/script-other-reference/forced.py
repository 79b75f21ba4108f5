from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import DPOConfig, DPOTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
reference = AutoModelForCausalLM.from_pretrained("gpt2")
args = DPOConfig("out", per_device_train_batch_size=2, max_length=512, force_use_ref_model=True)
DPOTrainer(model, reference, args=args, peft_config=LoraConfig(r=8)).train()
