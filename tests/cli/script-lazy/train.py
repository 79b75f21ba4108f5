from tools import adapted, options
from transformers import Trainer

trainer = Trainer(model=adapted("gpt2-medium"), args=options())
trainer.train()
