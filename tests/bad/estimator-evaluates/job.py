from sagemaker.huggingface import HuggingFace

hyperparameters = {
    "model_name_or_path": "bert-large-uncased",
    "task_name": "mnli",
    "do_eval": True,
    "max_seq_length": 128,
    "output_dir": "/opt/ml/model",
}
estimator = HuggingFace(
    entry_point="run_glue.py",
    instance_type="ml.p3.16xlarge",
    instance_count=2,
    role=role,
    transformers_version="4.26",
    pytorch_version="1.13",
    py_version="py39",
    hyperparameters=hyperparameters,
    distribution={"smdistributed": {"dataparallel": {"enabled": True}}},
)
estimator.fit()
