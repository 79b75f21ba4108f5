import json

import deepspeed
import torch
from options import get_args
from transformers import AutoModelForCausalLM


def main():
    args = get_args()
    with open(args.deepspeed_config) as f:
        ds_config = json.load(f)
    ds_config["train_micro_batch_size_per_gpu"] = args.batch_size
    ds_config['gradient_accumulation_steps'] = args.accumulate
    model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size)
    model, optimizer, _, _ = deepspeed.initialize(model=model, optimizer=optimizer, args=args, config_params=ds_config)
    for batch in loader:
        loss = model(**batch).loss
        model.backward(loss)
        model.step()


main()
