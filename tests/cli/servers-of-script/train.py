from sagemaker.tensorflow import TensorFlow

estimator = TensorFlow(
    entry_point="train.py",
    framework_version="2.11",
    instance_type="ml.p3dn.24xlarge",
    instance_count=4,
    distribution={"parameter_server": {"enabled": True}},
    hyperparameters={"model_name_or_path": "bert-large-uncased", "max_seq_length": 384,
                     "per_device_train_batch_size": 4},
)
