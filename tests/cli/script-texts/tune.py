# a model that reads pictures, of which a language model is made
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer
model = AutoModelForCausalLM.from_pretrained("google/gemma-3-4b-it", attn_implementation="eager")
args = SFTConfig(per_device_train_batch_size=1, max_length=2048, bf16=True)
SFTTrainer(model=model, args=args).train()
