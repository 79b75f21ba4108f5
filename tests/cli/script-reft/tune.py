import pyreft
from transformers import AutoModelForCausalLM, TrainingArguments

model = pyreft.get_reft_model(AutoModelForCausalLM.from_pretrained("gpt2"), settings)
args = TrainingArguments("out", per_device_train_batch_size=4)
pyreft.ReftTrainerForCausalLM(model=model, args=args).train()
