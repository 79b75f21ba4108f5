torchrun --nproc_per_node 4 train.py --batch-size 6 --half --base gpt2-large
