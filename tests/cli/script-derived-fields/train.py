from dataclasses import dataclass

from trl import SFTConfig, SFTTrainer


@dataclass
class Ours(SFTConfig):
    per_device_train_batch_size: int = 3
    max_length: int = 256
    gradient_checkpointing: bool = False


SFTTrainer("gpt2", args=Ours("out", bf16=True)).train()
