#!/bin/bash
torchrun --nproc_per_node=8 finetune_gpt.py --recipe qwen3_8b_finetune_config --peft_scheme lora \
    train.global_batch_size=16 train.micro_batch_size=1 dataset.seq_length=2048
