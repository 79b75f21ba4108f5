"""Question answering with BERT-large on two eight-GPU V100 instances, gradients by
SageMaker's data parallel library. Try:
  smsim simulate scenarios/launch/bert-large-squad-smddp.py
"""
import sagemaker
from sagemaker.huggingface import HuggingFace

role = sagemaker.get_execution_role()
gpu_instance = "ml.p3.16xlarge"
nodes = 2

hyperparameters = {
    "model_name_or_path": "bert-large-uncased-whole-word-masking",
    "dataset_name": "squad",
    "do_train": True,
    "fp16": True,
    "per_device_train_batch_size": 4,
    "max_seq_length": 384,
    "doc_stride": 128,
    "num_train_epochs": 2,
}
hyperparameters["max_steps"] = 100

estimator = HuggingFace(
    entry_point="run_qa.py",
    source_dir="examples/pytorch/question-answering",
    role=role,
    instance_type=gpu_instance,
    instance_count=nodes,
    transformers_version="4.26.0",
    pytorch_version="1.13.1",
    py_version="py39",
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
    hyperparameters=hyperparameters,
)
estimator.fit(wait=False)
