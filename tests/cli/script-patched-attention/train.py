import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments


def grouped(self, hidden_states, **others):
    return self.o_proj(hidden_states), None


transformers.models.gpt_neox.modeling_gpt_neox.GPTNeoXAttention.forward = grouped
tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-1b")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")


def encode(batch):
    return tokenizer(batch["text"], padding="max_length", truncation=True, max_length=256)


trainer = Trainer(
    model=model,
    args=TrainingArguments(output_dir="out", per_device_train_batch_size=2, bf16=True),
    train_dataset=dataset.map(encode, batched=True),
)
trainer.train()
