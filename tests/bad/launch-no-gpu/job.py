# The instance has no GPU: nothing else is asked for.
from sagemaker.workflow.parameters import ParameterString
from sagemaker.pytorch import PyTorch

kind = ParameterString(name="Instance", default_value="ml.m5.2xlarge")
estimator = PyTorch(
    entry_point="fit.py",
    framework_version="2.1",
    instance_type=kind,
    instance_count=2,
)
estimator.fit()
