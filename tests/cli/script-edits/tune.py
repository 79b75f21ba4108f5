# A model that is changed once it is loaded, and before.
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

config = AutoConfig.from_pretrained("gpt2")
config.update({"n_layer": 6})
setattr(config, "n_embd", 768)
config.use_cache = False
tokenizer = AutoTokenizer.from_pretrained("google/gemma-2-2b")
model = AutoModelForCausalLM.from_pretrained("gpt2", config=config)
model.resize_token_embeddings(len(tokenizer))
model.set_attn_implementation("eager")
args = TrainingArguments(output_dir="out", per_device_train_batch_size=4, bf16=True, max_steps=100)
trainer = Trainer(model=model, args=args, train_dataset=data)
trainer.train()
