import argparse

import tensorflow as tf
from datasets import load_from_disk
from transformers import AutoTokenizer, DataCollatorWithPadding
from transformers import TFAutoModelForSequenceClassification

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=16)
parser.add_argument("--name", type=str)
args = parser.parse_args()
tokenizer = AutoTokenizer.from_pretrained(args.name)
texts = load_from_disk("/opt/ml/input/data/train")
texts = texts.map(lambda e: tokenizer(e["text"], truncation=True, max_length=256))
train = texts.to_tf_dataset(
    columns=["input_ids", "attention_mask"],
    label_cols=["label"],
    shuffle=True,
    batch_size=12,
    collate_fn=DataCollatorWithPadding(tokenizer, return_tensors="tf"),
)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = TFAutoModelForSequenceClassification.from_pretrained(args.name)
model.compile(optimizer=tf.keras.optimizers.Adam(3e-5))
model.fit(train, epochs=2)
