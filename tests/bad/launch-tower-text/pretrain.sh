#!/bin/bash
# Parts are frozen that the model does not have.
torchrun --nproc_per_node 8 train.py --model_name_or_path gpt2-xl --mm_tunable_parts mm_mlp_adapter \
    --per_device_train_batch_size 2 --block_size 1024 --bf16
