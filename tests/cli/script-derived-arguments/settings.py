from dataclasses import dataclass

import transformers


@dataclass
class TrainingArguments(transformers.TrainingArguments):
    keep_cache: bool = False
    gradient_accumulation_steps: int = 4
