# What Accelerate reads of the environment, and what hurts.
from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(
    entry_point="run_clm.py",
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    transformers_version="4.36.0",
    pytorch_version="2.1.0",
    py_version="py310",
    distribution={"torch_distributed": {"enabled": True}},
    environment={
        "ACCELERATE_USE_FSDP": "true",
        "FSDP_AUTO_WRAP_POLICY": "TRANSFORMER_BASED_WRAP",
        "FSDP_OFFLOAD_PARAMS": "true",
        "CUDA_LAUNCH_BLOCKING": "1",
        "HF_HOME": "/tmp/hub",
    },
    hyperparameters={
        "model_name_or_path": "gpt2-xl",
        "bf16": True,
        "per_device_train_batch_size": 4,
        "block_size": 1024,
    },
)
estimator.fit()
