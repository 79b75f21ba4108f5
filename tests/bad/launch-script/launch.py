# The place of what is wrong is the script's own.
from sagemaker.pytorch import PyTorch

estimator = PyTorch(
    entry_point="run_qa.py",
    instance_type="ml.p4d.24xlarg",
    instance_count=2,
    distribution={
        "smdistributed": {"modelparallel": {"enabled": True, "parameters": {
            "partitions": 2,
            "microbatch": 4,
        }}},
        "mpi": {"enabled": True, "processes_per_host": 9},
    },
    hyperparameters={"model_name": "bert-large-cased", "max_seq_length": 384,
                     "train_batch_size": 4},
)
