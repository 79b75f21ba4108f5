from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def make(settings):
    args = TrainingArguments("out", per_device_train_batch_size=4, bf16=True, use_cpu=not settings["gpu"])
    return Trainer(model=AutoModelForCausalLM.from_pretrained("gpt2"), args=args)
