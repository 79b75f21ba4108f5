import tensorflow as tf
from transformers import TFAutoModelForMaskedLM

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = TFAutoModelForMaskedLM.from_pretrained("roberta-base")
    model.compile(optimizer="adam")
model.fit(tokens, batch_size=64, epochs=1)
