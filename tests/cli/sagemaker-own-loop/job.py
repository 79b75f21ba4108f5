from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="train.py",
    source_dir="code",
    role="role",
    framework_version="2.2",
    py_version="py310",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={"batch-size": 80},
)
estimator.fit()
