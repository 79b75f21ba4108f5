#!/bin/bash
torchrun --nnodes 1 --nproc_per_node 8 getting-started/finetuning/finetuning.py \
    --model_name meta-llama/Llama-3.1-8B --enable_fsdp --context_length 2048 \
    --batch_size_training 2 --freeze_layers --num_freeze_layers 12 \
    --dist_checkpoint_root_folder out --dist_checkpoint_folder tuned
