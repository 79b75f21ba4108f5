import deepspeed
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)
engine, _, _, _ = deepspeed.initialize(args, model=model, model_parameters=model.parameters())
for batch in DataLoader(texts, batch_size=engine.train_micro_batch_size_per_gpu()):
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
