from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(
    entry_point="run_clm.py", role="role", instance_type="ml.p4d.24xlarge", instance_count=2,
    transformers_version="4.26", pytorch_version="1.13", py_version="py39",
    hyperparameters={"model_name_or_path": "gpt2", "per_device_train_batch_size": 2, "block_size": 512},
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
)
estimator.hyperparameters = {"model_name_or_path": "gpt2", "per_device_train_batch_size": 8, "block_size": 256}
estimator.instance_count = 4
estimator.fit()
