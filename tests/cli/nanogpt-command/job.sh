#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --nproc_per_node=8 --rdzv_backend=c10d train.py config/deep.py \
    --block_size=1024 --bias=True --dropout=0.0 --compile=False --grad_clip=0.5 --dtype=float16
