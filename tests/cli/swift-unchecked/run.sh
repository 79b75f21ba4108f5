NPROC_PER_NODE=8 swift sft --model Qwen/Qwen2.5-1.5B --tuner_type lora --torch_dtype bfloat16 \
    --gradient_checkpointing false --max_length 1024 --per_device_train_batch_size 1 --deepspeed zero2
