# The job's program makes its model by a module next to it, of a file of sizes.
from sagemaker.pytorch import PyTorch

job = PyTorch(
    entry_point="train.py",
    source_dir="src",
    instance_type="ml.p4d.24xlarge",
    instance_count=1,
    framework_version="1.13.1",
    py_version="py39",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={"config_file": "bert_config.json", "batch": 8, "max_seq_length": 128},
)
job.fit()
