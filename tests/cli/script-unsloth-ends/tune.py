from trl import SFTConfig, SFTTrainer
from unsloth import FastLanguageModel

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Meta-Llama-3.1-8B", max_seq_length=1024, load_in_4bit=True)
model = FastLanguageModel.get_peft_model(
    model, r=16, target_modules=["q_proj", "v_proj", "embed_tokens", "lm_head"], lora_alpha=16
)
args = SFTConfig("out", per_device_train_batch_size=2, bf16=True, optim="adamw_8bit")
SFTTrainer(model=model, tokenizer=tokenizer, args=args).train()
