accelerate launch --num_processes 8 --num_machines 1 tune.py \
    --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 \
    --max_length 2048 --bf16 true
