from transformers import AutoModelForCausalLM
from trl import ModelConfig, SFTConfig, SFTTrainer, TrlParser

parser = TrlParser((SFTConfig, ModelConfig))
training, names = parser.parse_args_and_config()
model = AutoModelForCausalLM.from_pretrained(names.model_name_or_path)
SFTTrainer(model=model, args=training).train()
