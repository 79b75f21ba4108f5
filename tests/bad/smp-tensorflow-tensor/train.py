from sagemaker.tensorflow import TensorFlow

estimator = TensorFlow(
    entry_point="train.py",
    framework_version="2.11",
    instance_type="ml.p3.16xlarge",
    instance_count=2,
    distribution={
        "smdistributed": {"modelparallel": {"enabled": True, "parameters": {
            "partitions": 2, "microbatches": 8, "tensor_parallel_degree": 2, "ddp": True,
            "placement_strategy": "TPD", "shard_optimizer_state": True,
        }}},
        "mpi": {"enabled": True, "processes_per_host": 8},
    },
    hyperparameters={"model_name_or_path": "bert-large-uncased", "max_seq_length": 384,
                     "per_device_train_batch_size": 32},
)
