#!/bin/bash
deepspeed --num_nodes 2 --num_gpus 8 main.py --actor_lora_dim 0 \
    --actor_model_path opt-13b --critic_model_path opt-350m --deepspeed
