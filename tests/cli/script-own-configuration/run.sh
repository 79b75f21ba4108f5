torchrun --nproc_per_node 8 train.py --train_batch_size 4
