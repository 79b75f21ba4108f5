from sagemaker.pytorch import PyTorch

hyperparameters = {
    "num-layers": 40,
    "hidden_size": 5120,
    "num-attention-heads": 40,
    "seq-length": 2048,
    "max-position-embeddings": 2048,
    "micro-batch-size": 2,
    "global-batch-size": 256,
    "tensor-model-parallel-size": 8,
    "pipeline-model-parallel-size": 2,
    "train-iters": 1000,
    "bf16": True,
    "swiglu": "",
    "recompute-activations": "true",
    "use-distributed-optimizer": True,
    "tokenizer-type": "GPT2BPETokenizer",
    "data-path": "/opt/ml/input/data/train/text_document",
}
estimator = PyTorch(
    entry_point="pretrain_gpt.py",
    source_dir="megatron",
    framework_version="2.1",
    py_version="py310",
    instance_type="ml.p4de.24xlarge",
    instance_count=4,
    hyperparameters=hyperparameters,
    distribution={"torch_distributed": {"enabled": True}},
)
estimator.fit()
