from dataclasses import dataclass, field

from peft import LoraConfig, get_peft_model
from pydantic import Field
from pydantic_settings import BaseSettings
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, Trainer, TrainingArguments


class Settings(BaseSettings):
    model_id: str = Field(default="Qwen/Qwen2.5-0.5B", alias="MODEL_ID")
    batch: int = Field(4, gt=0)
    accumulate: int = Field(default=2, ge=1)
    four: bool = Field(default=True)
    max_length: int = Field(..., gt=1)
    modules: list = Field(default_factory=lambda: ["q_proj"])


@dataclass
class Adapters:
    rank: int = 8
    whole: list = field(default_factory=list)


settings = Settings(max_length=768)
adapters = Adapters()
quantised = BitsAndBytesConfig(load_in_4bit=True) if settings.four else None
model = AutoModelForCausalLM.from_pretrained(settings.model_id, quantization_config=quantised)
model = get_peft_model(
    model,
    LoraConfig(r=adapters.rank, target_modules=settings.modules, modules_to_save=adapters.whole or None),
)
args = TrainingArguments(
    "out",
    per_device_train_batch_size=settings.batch,
    gradient_accumulation_steps=settings.accumulate,
    bf16=True,
)
max_length = settings.max_length
Trainer(model, args).train()
