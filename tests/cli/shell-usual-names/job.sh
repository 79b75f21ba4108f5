#!/bin/bash
torchrun --nproc_per_node=8 our_finetune.py \
    --model_name gpt2-xl --batch_size 4 --max_len 1024 --epochs 3 \
    --grad_accum_steps 2 --mixed_precision bf16 --lora_r 8 \
    --lora_target_modules c_attn --gradient_checkpointing --lr 1e-4 --our_own 7
