# A shell script in the source directory starts the program: what shards is there.
from sagemaker.modules.configs import Compute, SourceCode
from sagemaker.modules.train import ModelTrainer

trainer = ModelTrainer(
    source_code=SourceCode(source_dir="code", command="bash run.sh --max_steps 20"),
    compute=Compute(instance_type="ml.p4d.24xlarge", instance_count=2),
    hyperparameters={
        "model_name_or_path": "meta-llama/Llama-2-7b-hf",
        "max_seq_length": 2048,
        "per_device_train_batch_size": 1,
        "bf16": True,
    },
)
