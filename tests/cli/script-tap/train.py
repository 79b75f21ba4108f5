from tap import Tap
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments


class Args(Tap):
    model_name: str = "bert-base-uncased"
    batch_size: int = 16
    max_tokens: int = 128
    recompute: bool = False

    def process_args(self):
        self.name = self.model_name.split("-")[0]


class Experiment:
    def __init__(self, args: Args):
        self.args = args
        self.tokenizer = AutoTokenizer.from_pretrained(args.model_name)
        self.model = AutoModelForSequenceClassification.from_pretrained(args.model_name)
        self.tokenizer(text, truncation=True, padding="max_length", max_length=args.max_tokens)
        if args.recompute:
            self.model.gradient_checkpointing_enable()

    def run(self):
        options = TrainingArguments("out", per_device_train_batch_size=self.args.batch_size)
        Trainer(self.model, options).train()


if __name__ == "__main__":
    Experiment(Args().parse_args()).run()
