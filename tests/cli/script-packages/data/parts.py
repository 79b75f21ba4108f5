from transformers import AutoTokenizer

SIZE = 256
tokenizer = AutoTokenizer.from_pretrained("gpt2")


def encode(batch):
    return tokenizer(batch["text"], truncation=True, max_length=SIZE, padding="max_length")
