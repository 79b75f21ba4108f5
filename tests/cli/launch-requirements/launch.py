import sagemaker
from sagemaker.modules.configs import Compute, SourceCode
from sagemaker.modules.distributed import Torchrun
from sagemaker.modules.train import ModelTrainer

image = sagemaker.image_uris.retrieve(
    framework="pytorch", region="us-east-1", version="2.0.1", instance_type="ml.p4de.24xlarge",
    image_scope="training",
)
trainer = ModelTrainer(
    training_image=image,
    source_code=SourceCode(
        source_dir="./code", requirements="requirements.txt", entry_script="run_clm.py"
    ),
    compute=Compute(instance_type="ml.p4de.24xlarge", instance_count=2),
    distributed=Torchrun(),
    hyperparameters={
        "model_name_or_path": "google/gemma-2-9b", "per_device_train_batch_size": 1,
        "gradient_accumulation_steps": 8, "block_size": 4096, "bf16": True,
        "gradient_checkpointing": True, "fsdp": "full_shard auto_wrap", "max_steps": 100,
    },
)
trainer.train()
