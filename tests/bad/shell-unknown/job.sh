#!/bin/bash
#SBATCH --nodes=4
# What this program trains is not known by its name.
srun torchrun --nproc_per_node 8 --nnodes 4 my_program.py --tensor-model-parallel-size 8 \
    --num-layers 48 --hidden-size 6144 --num-attention-heads 48 --micro-batch-size 1 \
    --global-batch-size 64 --seq-length 2048 --max-position-embeddings 2048 --bf16
