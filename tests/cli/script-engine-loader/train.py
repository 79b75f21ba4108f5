import deepspeed
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

data = make_data()
loader = DataLoader(data, batch_size=2, shuffle=True)
model = AutoModelForCausalLM.from_pretrained("gpt2")
engine, _, _, _ = deepspeed.initialize(
    model=model,
    model_parameters=model.parameters(),
    config={
        "train_micro_batch_size_per_gpu": 16,
        "bf16": {"enabled": True},
        "zero_optimization": {"stage": 1, "my_own": 3},
    },
)
for x in loader:
    loss = engine(**x).loss
    engine.backward(loss)
    engine.step()
