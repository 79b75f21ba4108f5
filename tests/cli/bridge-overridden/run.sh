# A program that starts a recipe, with words of the command over its file's.
torchrun --nproc_per_node=4 --nnodes=2 train.py --config-file conf/short.yaml train.global_batch_size=32
