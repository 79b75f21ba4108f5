from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from trl import TrlParser

parser = TrlParser((Names, TrainingArguments))
names, training = parser.parse_args_and_config()
snapshot_download(names.model_id, local_dir="/tmp/model")
model = AutoModelForCausalLM.from_pretrained("/tmp/model")
Trainer(model=model, args=training).train()
