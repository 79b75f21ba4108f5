trl sft --model_name_or_path Qwen/Qwen2.5-0.5B --bf16 false --gradient_checkpointing false --max_length 1024 \
    --per_device_train_batch_size 1
