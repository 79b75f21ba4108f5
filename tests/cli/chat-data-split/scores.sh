deepspeed run_scores.py --model_name_or_path facebook/opt-1.3b --data_path own --data_split 0,1,0 \
    --per_device_train_batch_size 8 --max_seq_len 512 --gradient_accumulation_steps 1 \
    --zero_stage 2 --deepspeed --output_dir out
