"""Fine-tunes BERT-large on SQuAD with SageMaker's data-parallel library."""
import os

import sagemaker
from sagemaker.huggingface import HuggingFace

bucket = os.environ.get("BUCKET", "training-data")
per_gpu = {"V100": 4, "A100": 12}
hyperparameters = {f"max_seq_{part}": n for part, n in (("length", 384),)}
hyperparameters |= {"model_name_or_path": "bert-large-uncased", "fp16": True}
hyperparameters["per_device_train_batch_size"] = per_gpu["A100"]
common = dict(role=sagemaker.get_execution_role(), py_version="py38")
estimator = HuggingFace(
    entry_point="run_qa.py",
    instance_type="ml.p4d.24xlarge",
    instance_count=4,
    transformers_version="4.17",
    pytorch_version="1.10",
    output_path=f"s3://{bucket}/models",
    hyperparameters=hyperparameters,
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
    **common,
)
estimator.fit({"train": "s3://training-data/squad"})
