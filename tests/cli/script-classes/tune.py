# settings are classes of a module next to it
from peft import LoraConfig
from settings import Adapters as AdapterSettings
from settings import Run
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer


def make(adapters):
    return LoraConfig(r=adapters.rank, target_modules=adapters.modules)


model = AutoModelForCausalLM.from_pretrained(Run.model)
args = SFTConfig(
    per_device_train_batch_size=Run().batch, max_length=1024, bf16=True
)
trainer = SFTTrainer(
    model=model, args=args, peft_config=make(AdapterSettings(rank=8))
)
trainer.train()
