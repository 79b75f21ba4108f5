#!/bin/bash
# Adapters of the language model; the list of parts has the tower, which adapters freeze.
torchrun --nproc_per_node 8 finetune.py --model_name_or_path Qwen/Qwen2.5-VL-3B-Instruct \
    --use_lora True --lora_rank 16 --lora_alpha 32 --lora_target_modules q_proj v_proj --lora_dropout 0 \
    --freeze_llm True --freeze_vision_tower False --freeze_merger True --bf16 True \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_seq_length 4096 \
    --gradient_checkpointing True --max_steps 100
