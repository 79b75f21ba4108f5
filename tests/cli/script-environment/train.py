# Variables of the environment that the program sets for itself.
import os

os.environ["NCCL_P2P_DISABLE"] = "1"
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
os.environ["ACCELERATE_MIXED_PRECISION"] = "bf16"
os.environ["WANDB_PROJECT"] = "tuning"

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2-xl")
args = TrainingArguments(output_dir="out", per_device_train_batch_size=2, max_steps=100)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
