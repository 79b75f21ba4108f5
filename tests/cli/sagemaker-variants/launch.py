from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="train.py",
    role="own",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    framework_version="2.0.1",
    py_version="py310",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={"model_name_or_path": "gpt2", "per_device_train_batch_size": 4, "max_seq_length": 512, "fp16": True},
    max_run=3600,
)
estimator.fit()
