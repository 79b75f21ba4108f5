from sagemaker.pytorch import PyTorch
distribution = {"pytorchddp": {"enabled": True}}
e = PyTorch(entry_point="run_clm.py", instance_type="local_gpu", instance_count=1,
            distribution=distribution,
            hyperparameters={"model_id": "gpt2-xl", "block_size": 1024,
                             "per_device_train_batch_size": 2})
