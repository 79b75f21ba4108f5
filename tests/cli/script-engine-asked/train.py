import argparse
import json
import deepspeed
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

p = argparse.ArgumentParser()
p.add_argument("--batch_size", type=int, default=32)
p.add_argument("--deepspeed_config", type=str)
args = p.parse_args()
with open(args.deepspeed_config) as f:
    config = json.load(f)
config["train_batch_size"] = args.batch_size
data = make_data()
model = AutoModelForCausalLM.from_pretrained("gpt2")
engine, _, _, _ = deepspeed.initialize(
    model=model, model_parameters=model.parameters(), config=config
)
loader = DataLoader(data, batch_size=engine.train_micro_batch_size_per_gpu())
for x in loader:
    loss = engine(**x).loss
    engine.backward(loss)
    engine.step()
