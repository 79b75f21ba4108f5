# A document of another framework's, given as hyperparameters.
from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="train.py",
    source_dir=".",
    role="role",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    framework_version="2.3",
    py_version="py311",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={"config": "recipe.yaml"},
)
estimator.fit()
