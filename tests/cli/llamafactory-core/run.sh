#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
USE_MCA=1 FORCE_TORCHRUN=1 NNODES=4 llamafactory-cli train mixture.yaml \
    gradient_accumulation_steps=32 recompute_num_layers=6
