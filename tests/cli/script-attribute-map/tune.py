from transformers import GPT2Config, GPT2LMHeadModel, TrainingArguments, Trainer
config = GPT2Config(hidden_size=1024, num_hidden_layers=20, num_attention_heads=16)
model = GPT2LMHeadModel(config)
args = TrainingArguments("o", per_device_train_batch_size=4, bf16=True)
t = Trainer(model=model, args=args)
t.train()
