from sagemaker.pytorch import PyTorch

job = PyTorch(
    entry_point="ds_launcher.py", role=role, framework_version="2.3", py_version="py311",
    instance_type="ml.p4d.24xlarge", instance_count=2,
    hyperparameters={"training_script": "run_clm.py", "model_name_or_path": "gpt2", "per_device_train_batch_size": 4, "block_size": 1024, "bf16": True, "output_dir": "/opt/ml/model"},
)
