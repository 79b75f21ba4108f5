# Without a distribution one process spreads the layers over the GPUs: it is asked what to simulate.
from sagemaker.huggingface import HuggingFace

estimator = HuggingFace(
    entry_point="train.py",
    instance_type="ml.g5.12xlarge",
    instance_count=1,
    transformers_version="4.36",
    pytorch_version="2.1",
    hyperparameters={"model_id": "meta-llama/Llama-2-7b-hf", "max_seq_length": 2048},
)
estimator.fit()
