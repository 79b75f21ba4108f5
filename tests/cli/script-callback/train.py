from transformers import AutoModelForCausalLM, Trainer, TrainerCallback, TrainingArguments


class Widen(TrainerCallback):
    def on_epoch_begin(self, args, state, control, **kwargs):
        if state.epoch > 1:
            args.gradient_accumulation_steps = 16


class Loud(Trainer):
    def training_step(self, model, inputs, n=None):
        self.args.per_device_train_batch_size = 1
        return super().training_step(model, inputs, n)


model = AutoModelForCausalLM.from_pretrained("gpt2")
options = TrainingArguments("out", per_device_train_batch_size=2)
trainer = Loud(model=model, args=options, callbacks=[Widen()])
trainer.train()
