deepspeed --num_gpus 8 finetune.py --deepspeed_config ds.json \
    --model_name_or_path gpt2-xl --per_device_train_batch_size 12 \
    --gradient_accumulation_steps 2 --block_size 1024
