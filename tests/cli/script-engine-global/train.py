import deepspeed
from datasets import load_dataset
from transformers import AutoModelForCausalLM

config = {
    "train_batch_size": 128,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {"stage": 2},
    "bf16": {"enabled": True},
    "optimizer": {"type": "AdamW"},
}
model = AutoModelForCausalLM.from_pretrained("gpt2")
engine, _, loader, _ = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    config=config,
    training_data=load_dataset("text"),
)
for x in loader:
    loss = engine(x).loss
    engine.backward(loss)
    engine.step()
