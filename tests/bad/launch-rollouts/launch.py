# The program's name says nothing; its trainer does.
from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="train.py",
    source_dir="scripts",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={
        "model_id": "meta-llama/Llama-2-7b-hf",
        "max_seq_length": 1024,
        "per_device_train_batch_size": 4,
    },
)
