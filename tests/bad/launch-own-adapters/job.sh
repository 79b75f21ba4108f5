#!/bin/bash
# Adapters in DeepSpeed's file and a ring of the sequence are the program's own.
deepspeed --num_gpus 8 our_train.py --model Qwen/Qwen2-7B-Instruct --seq-length 32768 \
    --parallel_mode zigzag_ring_attn --deepspeed_config ds.json
