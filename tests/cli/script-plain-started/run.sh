torchrun --nnodes 2 --nproc-per-node 8 train.py --batch-size 128 --seq_len 1024
