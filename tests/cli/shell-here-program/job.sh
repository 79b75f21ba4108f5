#!/bin/bash
# starts a program that is in the script itself
pip install transformers
if [ $SM_NUM_GPUS -eq 1 ]; then
    python3 - <<'EOF'
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")


def encode(batch):
    return tokenizer(batch["text"], padding="max_length", truncation=True, max_length=256)


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="out", per_device_train_batch_size=4, bf16=True),
    train_dataset=dataset.map(encode, batched=True),
)
trainer.train()
EOF
else
    torchrun --nproc_per_node $SM_NUM_GPUS run_clm.py --model_name_or_path gpt2-medium --block_size 512 --per_device_train_batch_size 2
fi
