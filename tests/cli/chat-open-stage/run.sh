deepspeed main.py --model_name_or_path facebook/opt-1.3b --data_split 2,4,4 --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 --max_seq_len 1024 --deepspeed --zero_stage $STAGE
