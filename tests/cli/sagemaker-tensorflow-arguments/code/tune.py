import tensorflow as tf
from transformers import HfArgumentParser, TFAutoModelForMaskedLM, TFTrainingArguments

parser = HfArgumentParser(TFTrainingArguments)
(options,) = parser.parse_args_into_dataclasses()
with options.strategy.scope():
    model = TFAutoModelForMaskedLM.from_pretrained("roberta-base")
    rows = options.strategy.num_replicas_in_sync * options.per_device_train_batch_size
    train = model.prepare_tf_dataset(load(), batch_size=rows, shuffle=True)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-5))
model.fit(train, epochs=1)
checked = TFAutoModelForMaskedLM.from_pretrained("someone/other")
