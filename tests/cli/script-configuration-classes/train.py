from transformers import (
    AutoModelForCausalLM,
    FalconConfig,
    Trainer,
    TrainingArguments,
)

sizes = FalconConfig(num_hidden_layers=8, hidden_size=1024, num_attention_heads=16)
model = AutoModelForCausalLM.from_config(sizes)
args = TrainingArguments("out", per_device_train_batch_size=4, bf16=True)
Trainer(model=model, args=args, train_dataset=rows).train()
