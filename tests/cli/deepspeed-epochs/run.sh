#!/bin/bash
deepspeed --include localhost:0,1,2,3 train.py --model_name_or_path gpt2 --num_train_epochs 5,3,7 \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 8 --max_seq_length 512 --bf16 True --output_dir out
