#!/bin/bash
NUM=8
declare -a dataset=( data/part-00000 data/part-00001 )
torchrun --nnodes 4 --nproc_per_node $NUM train_sft.py \
    --pretrain meta-llama/Llama-2-7b-hf --dataset ${dataset[@]} --plugin zero2_cpu --per_device_train_batch_size 4 \
    --max_len 4096 --lora_rank 32 --use_flash_attn --grad_checkpoint --lr 5e-5 --max_epochs 1
