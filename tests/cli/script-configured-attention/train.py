from transformers import AutoConfig, AutoModelForCausalLM, Trainer, TrainingArguments

config = AutoConfig.from_pretrained("Qwen/Qwen2.5-0.5B")
config.use_cache = False
config._attn_implementation = "eager"
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B", config=config)
config._attn_implementation = "sdpa"
Trainer(model, TrainingArguments("out", per_device_train_batch_size=2, bf16=True)).train()
