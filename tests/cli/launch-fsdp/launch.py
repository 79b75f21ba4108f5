# The Trainer with FSDP inside instances.
from sagemaker.huggingface import HuggingFace

huggingface = HuggingFace(
    entry_point="run_clm.py",
    source_dir=".",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    pytorch_version="2.0.1",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={
        "model_id": "gpt2-xl",
        "block_size": 1024,
        "per_device_train_batch_size": 2,
        "fsdp_config": {"activation_checkpointing": True},
        "bf16": True,
        "fsdp": "hybrid_shard auto_wrap",
    },
)
