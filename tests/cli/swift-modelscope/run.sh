NPROC_PER_NODE=2 swift sft --model_type qwen2-0_5b-instruct --model_id_or_path /mnt/models/Qwen2-0___5B-Instruct \
    --sft_type lora --lora_target_modules c_attn q_proj --dtype AUTO --dataset d.jsonl --max_length 2048 \
    --batch_size 4 --gradient_accumulation_steps 8 --output_dir out
