from sagemaker.huggingface import HuggingFace

HuggingFace(
    entry_point="train.py",
    source_dir="scripts",
    role="role",
    instance_type="ml.p4d.24xlarge",
    instance_count=1,
    transformers_version="4.28",
    pytorch_version="2.0",
    py_version="py310",
    hyperparameters={"model_name": "klue/roberta-base", "lora_dropout": 0.1},
    distribution={"torch_distributed": {"enabled": True}},
).fit()
