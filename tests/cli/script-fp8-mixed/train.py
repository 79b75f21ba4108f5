import transformer_engine.pytorch as te
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
options = TrainingArguments("out", per_device_train_batch_size=2, bf16=True)
trainer = Trainer(model=model, args=options)
with te.fp8_autocast(enabled=True):
    trainer.train()
