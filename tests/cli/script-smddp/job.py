from sagemaker.pytorch import PyTorch

job = PyTorch(
    entry_point="train.py",
    role="role",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    framework_version="2.0.1",
    py_version="py310",
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
)
job.fit()
