from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")


def cut(rows, longest=1024):
    return tokenizer(rows["text"], truncation=True, padding="max_length", max_length=longest)
