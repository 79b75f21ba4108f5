from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

args = TrainingArguments("out", per_device_train_batch_size=4, bf16=True)
Trainer(model=AutoModelForCausalLM.from_pretrained("gpt2"), args=args).train()
