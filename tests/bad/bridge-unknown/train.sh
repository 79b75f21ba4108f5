#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
TP=2
OVERRIDES=" \
    train.global_batch_size=16 \
    train.micro_batch_size=1 \
    model.tensor_model_parallel_size=$TP \
    model.seq_length=$([ "$TP" -gt 1 ] && echo 4096 || echo 2048)
"
srun bash -c "python scripts/training/run_recipe.py --recipe ours_30b_finetune_config $(echo "$OVERRIDES" | tr '\n' ' ' | sed 's/  \+/ /g')"
