#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
# srun's own words end where the container starts.
CMD="pretrain_gpt.py --num-layers 16 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2 \
    --global-batch-size 64 --bf16 --vocab-size 50257"
srun --label --cpu-bind=none \
    singularity exec -B $PWD image.sif ./launch.sh $CMD
