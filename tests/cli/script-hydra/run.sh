torchrun --nproc_per_node 4 train.py training.batch.per_device_batch_size=2 +seed=1
