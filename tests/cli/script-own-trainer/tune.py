from transformers import AutoModelForCausalLM
from loop import Trainer
model = AutoModelForCausalLM.from_pretrained("gpt2")
trainer = Trainer(model=model, train_dataset=ds, batch_size=16, lr=1e-4)
trainer.train()
