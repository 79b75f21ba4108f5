from sagemaker.pytorch import PyTorch
import sizes as s
from settings import models
from settings.machines import INSTANCE, COUNT as nodes, role_of
from .shared import *

hyperparameters = dict(models.COMMON, model_name_or_path=models.MODEL_ID)
hyperparameters["per_device_train_batch_size"] = s.MICRO_BATCH
hyperparameters["block_size"] = s.SEQUENCE["long"]

estimator = PyTorch(
    entry_point="run_clm.py",
    role=role_of("training"),
    instance_type=INSTANCE,
    instance_count=nodes,
    framework_version=PYTORCH,
    hyperparameters=hyperparameters,
    distribution={"torch_distributed": {"enabled": True}},
)
