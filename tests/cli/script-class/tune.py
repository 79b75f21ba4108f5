import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments, Trainer, AutoTokenizer
from peft import LoraConfig, get_peft_model
class Tuner:
    def __init__(self, name="Qwen/Qwen2.5-1.5B", rank=16, length=768):
        self.name = name
        self.rank = rank
        self.length = length
        self._setup()
    def _setup(self):
        self.model = self._load(self.name, bits=4)
        self.args = TrainingArguments("o", per_device_train_batch_size=4, bf16=True, gradient_accumulation_steps=8)
    @staticmethod
    def _quant(bits):
        if bits == 4:
            return BitsAndBytesConfig(load_in_4bit=True)
        return None
    def _load(self, name, bits):
        model = AutoModelForCausalLM.from_pretrained(name, quantization_config=self._quant(bits), dtype=torch.bfloat16)
        return get_peft_model(model, LoraConfig(r=self.rank))
    def tokenize(self, x):
        return self.tokenizer(x, truncation=True, max_length=self.length, padding="max_length")
    def go(self):
        t = Trainer(model=self.model, args=self.args)
        t.train()
Tuner(rank=64).go()
