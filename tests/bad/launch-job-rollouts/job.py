# A script that runs a trainer of rollouts as a command of its own trains nothing that is simulated.
from sagemaker.modules.train import ModelTrainer

trainer = ModelTrainer(
    source_code=SourceCode(source_dir=".", command="python launcher.py --entrypoint train.py --config args.yaml"),
    compute=Compute(instance_type="ml.p4de.24xlarge", instance_count=1),
)
trainer.train()
