from dataclasses import dataclass, field
import transformers
from transformers import Trainer
@dataclass
class ModelArguments:
    model_name_or_path: str = field(default="facebook/opt-125m")
@dataclass
class TrainingArguments(transformers.TrainingArguments):
    model_max_length: int = field(default=512)
def train():
    parser = transformers.HfArgumentParser((ModelArguments, TrainingArguments))
    model_args, training_args = parser.parse_args_into_dataclasses()
    model = transformers.AutoModelForCausalLM.from_pretrained(model_args.model_name_or_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(model_args.model_name_or_path, model_max_length=training_args.model_max_length)
    trainer = Trainer(model=model, args=training_args)
    trainer.train()
train()
