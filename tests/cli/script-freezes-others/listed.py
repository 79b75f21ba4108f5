from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
sizes = [{"rows": 2}, {"rows": 4}]
sizes[1]["rows"] = 8
args = TrainingArguments("out", per_device_train_batch_size=sizes[1].rows)
Trainer(model=model, args=args, train_dataset=rows).train()
