from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="train.py", role="role", instance_type="ml.p4d.24xlarge", instance_count=2,
    framework_version="1.13", py_version="py39",
    hyperparameters={
        "hidden_width": 2048, "num_layers": 24, "num_heads": 16, "max_context_width": 1024,
        "train_batch_size": 4, "activation_checkpointing": 1,
    },
    distribution={
        "mpi": {"enabled": True, "processes_per_host": 8},
        "smdistributed": {"modelparallel": {"enabled": True, "parameters": {
            "ddp": True, "tensor_parallel_degree": 2, "partitions": 1, "fp16": True,
        }}},
    },
)
estimator.fit()
