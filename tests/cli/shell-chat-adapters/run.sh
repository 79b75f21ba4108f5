deepspeed main.py --data_split 2,4,4 --model_name_or_path facebook/opt-1.3b --per_device_train_batch_size 8 --max_seq_len 512 \
    --num_train_epochs 2 --zero_stage 2 --lora_dim 128 --lora_module_name decoder.layers. --only_optimize_lora --deepspeed
