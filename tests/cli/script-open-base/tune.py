import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments, Trainer
from peft import LoraConfig, get_peft_model
class T:
    def __init__(self):
        self.q = self._b()
        self.m = self._l()
    def _b(self):
        if cfg.Q == "4b":
            return BitsAndBytesConfig(load_in_4bit=True)
        elif cfg.Q == "8b":
            return BitsAndBytesConfig(load_in_8bit=True)
        return None
    def _l(self):
        model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-1.5B", quantization_config=self.q, dtype=torch.bfloat16)
        return get_peft_model(model, LoraConfig(r=8))
    def go(self):
        args = TrainingArguments("o", per_device_train_batch_size=4, bf16=True)
        t = Trainer(model=self.m, args=args)
        t.train()
