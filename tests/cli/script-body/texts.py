from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")


def collate(batch):
    return tokenizer([b["text"] for b in batch], truncation=True, max_length=256, padding="max_length")
