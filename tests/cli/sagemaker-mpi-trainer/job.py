from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(
    entry_point="train.py",
    source_dir="code",
    role="role",
    transformers_version="4.36",
    pytorch_version="2.1",
    py_version="py310",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    distribution={"mpi": {"enabled": True, "processes_per_host": 8}},
)
estimator.fit()
