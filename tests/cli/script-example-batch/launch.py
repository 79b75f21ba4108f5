from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(
    entry_point="run_clm.py",
    source_dir="./examples/pytorch/language-modeling",
    git_config={"repo": "https://github.com/huggingface/transformers.git", "branch": "v4.26.0"},
    instance_type="ml.p4d.24xlarge",
    instance_count=1,
    transformers_version="4.26.0",
    pytorch_version="1.13.1",
    py_version="py39",
    role="role",
    distribution={"torch_distributed": {"enabled": True}},
    hyperparameters={"model_name_or_path": "gpt2", "output_dir": "/opt/ml/model", "fp16": True},
)
estimator.fit()
