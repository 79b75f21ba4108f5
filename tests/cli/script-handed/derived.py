from elsewhere import CarefulSFTConfig, CarefulTrainerOf
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
options = CarefulSFTConfig(output_dir="out", per_device_train_batch_size=2, max_seq_length=512, bf16=True)
CarefulTrainerOf(model, options).train()
