# SDK v3: objects of the job; InstanceGroup for its instances, SMP v2 under torchrun.
from sagemaker.modules.configs import (
    CheckpointConfig, Compute, Networking, SourceCode, StoppingCondition,
)
from sagemaker.modules.distributed import SMP, Torchrun
from sagemaker.modules.train import ModelTrainer

model_id = "meta-llama/Llama-2-7b-hf"
compute = Compute(
    instance_type="ml.p4d.24xlarge",
    instance_count=2,
    volume_size_in_gb=96,
    keep_alive_period_in_seconds=1800,
)
trainer = ModelTrainer(
    training_image=f"763104351884.dkr.ecr.{region}.amazonaws.com/pytorch-training:2.3.0-gpu-py310",
    source_code=SourceCode(source_dir="scripts", entry_script="run_clm.py"),
    compute=compute,
    networking=Networking(subnets=[subnet], enable_network_isolation=False),
    distributed=Torchrun(
        process_count_per_node=8,
        smp=SMP(hybrid_shard_degree=8, tensor_parallel_degree=2, random_seed=None),
    ),
    stopping_condition=StoppingCondition(max_runtime_in_seconds=3600),
    checkpoint_config=CheckpointConfig(s3_uri=f"s3://{bucket}/checkpoints"),
    hyperparameters={
        "model_name_or_path": model_id,
        "per_device_train_batch_size": 2,
        "max_seq_length": 2048,
        "bf16": True,
        "gradient_checkpointing": True,
        "max_steps": 100,
    },
    environment={"NCCL_DEBUG": "WARN"},
    role=role,
)
trainer.train(input_data_config=[data], wait=False)
