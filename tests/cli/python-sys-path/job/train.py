import os
import sys
sys.path.append(os.path.join(os.path.dirname(__file__), "..", "common"))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments, AutoTokenizer
from settings import BATCH, LENGTH
import base

model = AutoModelForCausalLM.from_pretrained("gpt2")
tok = AutoTokenizer.from_pretrained("gpt2")
ds = ds.map(lambda x: tok(x["text"], truncation=True, max_length=LENGTH, padding="max_length"))
args = TrainingArguments("out", per_device_train_batch_size=BATCH, max_steps=base.STEPS, bf16=True)
Trainer(model=model, args=args, train_dataset=ds).train()
