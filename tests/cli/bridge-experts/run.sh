#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
srun uv run python scripts/training/run_recipe.py --recipe qwen3_30b_a3b_sft_config --peft_scheme none \
  model.tensor_model_parallel_size=4 model.expert_model_parallel_size=32 model.sequence_parallel=true \
  train.global_batch_size=64 train.micro_batch_size=1
