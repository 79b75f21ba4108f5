from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision

kept = MixedPrecision(param_dtype=dtype, reduce_dtype=dtype, buffer_dtype=dtype)
model = FullyShardedDataParallel(model, mixed_precision=kept)
