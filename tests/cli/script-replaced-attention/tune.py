from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from kernels import replace_llama_attn_with_flash_attn

replace_llama_attn_with_flash_attn()
args = TrainingArguments("out", per_device_train_batch_size=1, bf16=True)
trainer = Trainer(model=AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf"), args=args)
trainer.train()
