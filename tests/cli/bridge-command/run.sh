#!/bin/bash
torchrun --nnodes=4 --nproc_per_node=8 scripts/training/run_recipe.py \
    --recipe qwen3_8b_peft_config --dataset mock --seq-length=4096 -tp 2 -mb 2 \
    train.global_batch_size=128 model.tensor_model_parallel_size=4 model.sequence_parallel=true peft.dim=32
