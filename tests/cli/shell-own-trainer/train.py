from dataclasses import dataclass

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForSequenceClassification, AutoTokenizer, HfArgumentParser
from transformers import Trainer, TrainingArguments


@dataclass
class Own:
    model_name_or_path: str = None


own, args = HfArgumentParser((Own, TrainingArguments)).parse_args_into_dataclasses()
tokenizer = AutoTokenizer.from_pretrained(own.model_name_or_path)
model = AutoModelForSequenceClassification.from_pretrained(own.model_name_or_path, gradient_checkpointing=True)
adapters = LoraConfig(r=8, target_modules=["query"])
# model = get_peft_model(model, adapters)
data = load().map(lambda row: tokenizer(row["text"], truncation=True, max_length=model.config.max_position_embeddings))
Trainer(model=model, args=args, train_dataset=data).train()
