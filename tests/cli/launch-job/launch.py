# What the estimator says of the job around its steps; samples and sizes come from --set.
from sagemaker.huggingface import HuggingFace

huggingface = HuggingFace(
    entry_point="run_qa.py",
    instance_type="ml.p3.16xlarge",
    instance_count=2,
    pytorch_version="1.13.1",
    volume_size=30,
    max_run=30 * 60,
    max_wait=20 * 60,
    use_spot_instances=True,
    keep_alive_period_in_seconds=600,
    checkpoint_s3_uri=f"s3://{bucket}/checkpoints",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={
        "model_name_or_path": "bert-large-uncased",
        "dataset_name": "squad",
        "max_seq_length": 384,
        "per_device_train_batch_size": 4,
        "fp16": True,
        "num_train_epochs": 2,
        "save_steps": 500,
        "dataloader_num_workers": 2,
    },
)
