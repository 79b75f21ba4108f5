import torch
from transformers import AutoModelForCausalLM, TrainingArguments, Trainer
from trl import TrlParser
parser = TrlParser((TrainingArguments,))
(given,) = parser.parse_args_and_config()
dtype = torch.bfloat16 if given.bf16 else torch.float32
if given.fsdp:
    more = {"fsdp": given.fsdp}
else:
    more = {}
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=dtype)
if given.gradient_checkpointing:
    model.gradient_checkpointing_enable()
args = TrainingArguments("o", per_device_train_batch_size=2, bf16=given.bf16, **more)
Trainer(model, args).train()
