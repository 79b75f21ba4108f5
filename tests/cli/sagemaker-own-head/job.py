from sagemaker.huggingface import HuggingFace

job = HuggingFace(
    entry_point="classify.py",
    source_dir="code",
    instance_type="ml.p3.2xlarge",
    instance_count=1,
    pytorch_version="2.0",
    transformers_version="4.28",
    py_version="py310",
    hyperparameters={"rows": 16},
)
job.fit()
