import argparse
import deepspeed
from transformers import AutoConfig, AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--checkpoint")
parser.add_argument("--max_seq_len", type=int)
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
config = AutoConfig.from_pretrained(args.checkpoint)
model = AutoModelForCausalLM.from_config(config)
engine, _, loader, _ = deepspeed.initialize(args=args, model=model, model_parameters=model.parameters(), training_data=data)
for batch in loader:
    loss = engine(**batch).loss
    engine.backward(loss)
    engine.step()
