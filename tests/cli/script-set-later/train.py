from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
training_args = DPOConfig(output_dir="x")
setattr(training_args, 'per_device_train_batch_size', 4)
training_args.max_length = 512
trainer = DPOTrainer(model=model, args=training_args, train_dataset=ds)
trainer.train()
