from sagemaker.modules.configs import Compute, SourceCode
from sagemaker.modules.distributed import SMP, Torchrun
from sagemaker.modules.train import ModelTrainer

trainer = ModelTrainer(
    training_image="pytorch-training:2.2.0-gpu-py310",
    source_code=SourceCode(source_dir="code", entry_script="run_clm.py"),
    compute=Compute(instance_type="ml.p4d.24xlarge", instance_count=2),
    distributed=Torchrun(smp=SMP(hybrid_shard_degree=8, fp8=True)),
    hyperparameters={"model_name_or_path": "gpt2-xl", "per_device_train_batch_size": 2, "block_size": 1024, "bf16": True},
)
trainer.train()
