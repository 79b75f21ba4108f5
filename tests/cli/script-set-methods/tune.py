from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class OwnTrainer(Trainer):
    def get_train_dataloader(self):
        return loader(self.train_dataset)


model = AutoModelForCausalLM.from_pretrained("gpt2")
model = get_peft_model(model, LoraConfig(r=8, target_modules=["c_attn"], layers_to_transform=[0, 1]))
args = TrainingArguments("out", bf16=True)
args.set_training(batch_size=6, gradient_accumulation_steps=2)
args.set_optimizer(name="adafactor")
trainer = OwnTrainer(model=model, args=args)
trainer.train()
