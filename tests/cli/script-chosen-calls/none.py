from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

ADAPTERS = False
adapters = LoraConfig(r=9) if ADAPTERS else None
args = SFTConfig("out", per_device_train_batch_size=4, max_length=512)
SFTTrainer("gpt2", args=args, peft_config=adapters).train()
