import torch
from torch.distributed.fsdp import MixedPrecision

half = MixedPrecision(param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16)
