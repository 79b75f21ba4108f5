#!/bin/bash
# 64 GPUs
torchrun --nnodes 8 --nproc-per-node 8 scripts/training/run_recipe.py \
    --recipe qwen3_next_80b_a3b_sft_config \
    train.global_batch_size=64 \
    model.expert_model_parallel_size=8
