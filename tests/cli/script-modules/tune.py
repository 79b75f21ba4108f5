from models import load, adapt
from trl import SFTConfig, SFTTrainer

model, tokenizer = load("Qwen/Qwen2.5-1.5B", bits=4)
model = adapt(model, rank=32)
args = SFTConfig("out", per_device_train_batch_size=2, max_length=1024, bf16=True)
trainer = SFTTrainer(model=model, args=args, train_dataset=data)
trainer.train()
