from sagemaker.pytorch import PyTorch
est = PyTorch(entry_point="start.py", source_dir="src", role=role, framework_version="2.1", py_version="py310",
  instance_type="ml.p4d.24xlarge", instance_count=2, hyperparameters={}, environment={"NODE_NUMBER": "2"})
est.fit()
