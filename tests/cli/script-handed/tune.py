from transformers import AutoModelForCausalLM
from trl import SFTTrainer


def tune(data, options):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    trainer = SFTTrainer(model=model, train_dataset=data, args=options, max_seq_length=512, packing=True)
    trainer.train()
