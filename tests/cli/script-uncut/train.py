from trl import SFTConfig, SFTTrainer

SFTTrainer("gpt2", args=SFTConfig("out", bf16=True, max_length=None)).train()
