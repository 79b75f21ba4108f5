deepspeed main.py --model_name_or_path facebook/opt-350m --data_path own --data_split 2,4,4 --num_padding_at_beginning 1 \
    --per_device_train_batch_size 4 --max_seq_len 512 --gradient_accumulation_steps 1 --zero_stage 3 --deepspeed \
    --lora_dim 16 --lora_module_name decoder.layers. --only_optimize_lora --output_dir out
