from sagemaker.huggingface import HuggingFace

job = HuggingFace(
    entry_point="tune.py",
    source_dir="code",
    instance_type="ml.p3.8xlarge",
    instance_count=1,
    transformers_version="4.26",
    tensorflow_version="2.11",
    py_version="py39",
    hyperparameters={"per_device_train_batch_size": 24, "output_dir": "out"},
)
job.fit({"train": "s3://texts/train"})
