from peft import LoraConfig
from trl import SFTTrainer


class Tuner:
    def run(self):
        adapters = LoraConfig(r=8, target_modules=["q_proj", "v_proj"])
        SFTTrainer(model=self.model, args=self.args, peft_config=adapters).train()
