from sagemaker.pytorch import PyTorch
est = PyTorch(entry_point="start.py", source_dir="src", role=role, framework_version="2.1", py_version="py310",
  instance_type="ml.p4d.24xlarge", instance_count=2, hyperparameters={"model_name_or_path":"meta-llama/Llama-2-7b-hf","per_device_train_batch_size":4,"bf16":True,"fsdp":"full_shard auto_wrap","model_max_length":2048,"gradient_checkpointing":True}, environment={"NODE_NUMBER": "2"})
est.fit()
