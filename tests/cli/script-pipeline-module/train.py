import deepspeed
from deepspeed.pipe import PipelineModule
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
net = PipelineModule(layers=layers_of(model), num_stages=4)
config = {"train_batch_size": 32, "train_micro_batch_size_per_gpu": 4, "bf16": {"enabled": True}}
engine, _, _, _ = deepspeed.initialize(model=net, config=config)
max_length = 512
for _ in range(100):
    loss = engine.train_batch()
