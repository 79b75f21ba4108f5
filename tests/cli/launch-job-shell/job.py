# A shell script is the entry: hyperparameters are its arguments, and what it starts is read.
from sagemaker.modules.train import ModelTrainer
trainer = ModelTrainer(
    training_image="763104351884.dkr.ecr.us-east-1.amazonaws.com/pytorch-training:2.3.0-gpu-py310",
    source_code=SourceCode(source_dir="scripts", entry_script="run.sh"),
    compute=Compute(instance_type="ml.p4de.24xlarge", instance_count=2),
    hyperparameters={"model_id": "meta-llama/Llama-3.1-8B", "bs": 2, "max_steps": 50},
)
