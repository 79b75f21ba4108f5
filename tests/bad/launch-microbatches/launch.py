from sagemaker.pytorch import PyTorch
smp = {"enabled": True, "parameters": {"partitions": 2, "microbatches": 4, "ddp": True}}
e = PyTorch(instance_type="ml.p3.16xlarge", instance_count=1,
            distribution={"smdistributed": {"modelparallel": smp},
                          "mpi": {"enabled": True, "processes_per_host": 8}},
            hyperparameters={"model_id": "gpt2-xl", "block_size": 1024, "fp16": 1,
                             "per_device_train_batch_size": 6})
