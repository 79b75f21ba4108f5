#!/bin/bash
python mason.py --cluster ours/h100 --num_nodes 4 --gpus 8 -- accelerate launch \
    --mixed_precision bf16 --num_processes 8 --use_deepspeed \
    --deepspeed_config_file zero.conf \
    tune.py \
    --model_name_or_path allenai/OLMo-2-1124-7B --max_seq_length 4096 \
    --gradient_accumulation_steps 4 --use_lora True --lora_rank 32
