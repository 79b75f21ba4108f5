from transformers import AutoModelForCausalLM, TrainingArguments, Trainer
from trl import SFTTrainer
from peft import LoraConfig
from dataclasses import dataclass
@dataclass
class MyArgs(TrainingArguments):
    per_device_train_batch_size: int = 3
    my: int = 4
class CustomTrainer(SFTTrainer):
    def log(self): pass
class Deep(CustomTrainer):
    pass
model = AutoModelForCausalLM.from_pretrained("gpt2")
args = MyArgs("out", gradient_accumulation_steps=16, fp16=True)
trainer = Deep(model=model, args=args, train_dataset=ds, peft_config=LoraConfig(r=4), max_seq_length=777)
trainer.train()
