torchrun --nproc_per_node 8 train.py --cf sizes.json --kind large --batch 16
