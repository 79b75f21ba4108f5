#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --nproc_per_node=8 train.py \
    --model_name meta-llama/Llama-2-13b-hf --batch_size 2 --seq_length 8192
