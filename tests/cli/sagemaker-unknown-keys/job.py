from sagemaker.huggingface import HuggingFace
est = HuggingFace(entry_point="run_clm.py", role=role, transformers_version="4.28", pytorch_version="2.0", py_version="py310", git_config={"repo":"https://github.com/huggingface/transformers.git","branch":"v4.28.1"}, source_dir="./examples/pytorch/language-modeling",
  instance_type="ml.p4d.24xlarge", instance_count=2, distribution={"torch_distributed":{"enabled":True}},
  hyperparameters={"model_name_or_path":"gpt2","per_device_train_batch_size":4, get_key(): "full_shard", f"{x}_precision": 3, "block_size":1024, **extra()})
