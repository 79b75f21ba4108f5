from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
(args,) = HfArgumentParser(TrainingArguments).parse_yaml_file("settings.yaml")
trainer = Trainer(model=model, args=args)
trainer.train()
