import json

from options import make_parser
from transformers import GPT2Config, GPT2LMHeadModel, GPT2TokenizerFast, Trainer, TrainingArguments

args = make_parser().parse_args()
sizes = json.load(open(args.config_file))
if args.kind == "small":
    config = GPT2Config(**sizes["small"])
else:
    config = GPT2Config(**sizes["large"])
config.vocab_size = 32000
tokenizer = GPT2TokenizerFast.from_pretrained("gpt2")
tokenizer(text, max_length=args.length, truncation=True, padding="max_length")
model = GPT2LMHeadModel(config)
trainer = Trainer(model, TrainingArguments("out", per_device_train_batch_size=args.batch, bf16=True))
trainer.train()
