from sagemaker.pytorch import PyTorch
PyTorch(entry_point="train.py", instance_type="ml.p4d.24xlarge",
        hyperparameters={"model_id": "someone/model-of-mine", "lr": 3e-5})
