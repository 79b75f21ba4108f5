from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
cfgs = {"x": {"a": 2}}
del cfgs["x"].a
args = TrainingArguments("out", per_device_train_batch_size=cfgs["x"].get("a", 16))
Trainer(model=model, args=args, train_dataset=rows).train()
