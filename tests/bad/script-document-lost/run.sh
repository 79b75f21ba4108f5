torchrun --nproc_per_node 8 train.py --config missing.yaml
