#!/bin/bash
# sources and targets of a model without an encoder are one sequence
torchrun --nnodes 2 --nproc_per_node 8 run_sft.py \
    --model_name_or_path Qwen/Qwen2.5-7B --bf16 --gradient_checkpointing \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 2 \
    --max_source_length 1024 --max_target_length 512 --deepspeed ds.json
