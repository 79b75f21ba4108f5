from transformers import AutoModelForCausalLM
from tuner import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
trainer = SFTTrainer(model, SFTConfig(rows=4))
trainer.train()
