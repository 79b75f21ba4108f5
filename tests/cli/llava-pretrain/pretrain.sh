#!/bin/bash
# The projector alone is trained, between a tower and a language model that are frozen.
deepspeed --num_gpus 8 llava/train/train_mem.py --deepspeed ./scripts/zero2.json \
    --model_name_or_path lmsys/vicuna-7b-v1.5 --version plain \
    --vision_tower openai/clip-vit-large-patch14-336 --mm_projector_type mlp2x_gelu \
    --tune_mm_mlp_adapter True --mm_vision_select_layer -2 --bf16 True \
    --per_device_train_batch_size 32 --gradient_accumulation_steps 1 --max_steps 2181 \
    --gradient_checkpointing True --model_max_length 2048 --learning_rate 1e-3
