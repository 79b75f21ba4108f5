from networks import make
from options import parse_args
from transformers import Trainer, TrainingArguments

args = parse_args()
network = make(args.name)
if args.recompute:
    network.gradient_checkpointing_enable()
Trainer(network, TrainingArguments("out", per_device_train_batch_size=args.batch)).train()
