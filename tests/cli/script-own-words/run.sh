BATCH=6 torchrun --nproc_per_node 8 train.py --name gpt2-medium --no-recompute
