import subprocess

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

training = TrainingArguments(output_dir="/tmp", per_device_train_batch_size=64)
subprocess.run("python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo", shell=True)
Trainer(model=model, args=training)
