import torch
from transformers import AutoConfig, GPT2LMHeadModel, GPT2Config, Trainer, TrainingArguments, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("my/tok")
context_length = 512
config = GPT2Config(vocab_size=32000, n_positions=context_length, n_embd=1024, n_layer=24, n_head=16, bos_token_id=tokenizer.bos_token_id)
config.resid_pdrop = 0.0
model = GPT2LMHeadModel(config)
def tokenize(e):
    return tokenizer(e["text"], truncation=True, max_length=context_length)
args = TrainingArguments("out", per_device_train_batch_size=16, gradient_accumulation_steps=4, max_steps=1000,
    bf16=torch.cuda.is_bf16_supported(), fp16=not torch.cuda.is_bf16_supported())
trainer = Trainer(model=model, args=args)
trainer.train()
