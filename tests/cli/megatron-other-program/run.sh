torchrun --nproc_per_node 4 train.py --num_layers 24 --hidden_size 1024 --tp_size 2 --fp16
