python -m torch.distributed.launch --nproc_per_node 8 train.py --per_gpu_train_batch_size 16
