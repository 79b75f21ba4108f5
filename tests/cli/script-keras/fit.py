import tensorflow as tf
from transformers import AutoTokenizer, TFBertForTokenClassification


def encode(split):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    rows = tokenizer(split["words"], padding="max_length", max_length=192)
    return tf.data.Dataset.from_tensor_slices((dict(rows), split["tags"]))


data = load()
eval_rows = encode(data["eval"]).batch(64)
train_rows = encode(data["train"]).shuffle(1000).batch(24)
model = TFBertForTokenClassification.from_pretrained("bert-base-cased", num_labels=9)
optimizer = tf.keras.optimizers.Adam(learning_rate=2e-5)
for rows, tags in train_rows:
    with tf.GradientTape() as tape:
        loss = model(rows, labels=tags).loss
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
