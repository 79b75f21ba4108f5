deepspeed --num_gpus 4 sft/main.py --model_name_or_path mistralai/Mistral-7B-v0.1 --max_seq_len 2048 --zero_stage 3 \
    --deepspeed --per_device_train_batch_size 2 --gradient_checkpointing --dtype bf16
