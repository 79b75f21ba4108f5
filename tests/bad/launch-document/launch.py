# The job is in a YAML that the program loads by a default of its own.
from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="run.py",
    source_dir="code",
    role="role",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    framework_version="2.3",
    py_version="py311",
    distribution={"torch_distributed": {"enabled": True}},
)
estimator.fit()
