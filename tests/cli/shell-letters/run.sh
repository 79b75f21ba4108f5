#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gres=gpu:4
# Options of one dash belong to no option before them.
srun torchrun --nnodes $SLURM_NNODES --nproc_per_node 4 train_llama.py \
    --dataset_path c4 --tokenizer_path tokenizer -dp 2 -pp 4
