# Calls, names and arithmetic where values are needed: said, and asked for.
import os
from sagemaker.huggingface import HuggingFace

nodes = int(os.environ.get("NODES", "2"))
hyperparameters = {"model_name_or_path": pick_model(), "max_seq_length": 3 * base}
hyperparameters["per_device_train_batch_size"] = batch

huggingface = HuggingFace(
    instance_type=f"ml.{family}.16xlarge",
    instance_count=nodes,
    distribution={"mpi": {"enabled": True, "processes_per_host": len(gpus)}},
    hyperparameters=hyperparameters,
    max_run=24 * 60 * 60,
)
