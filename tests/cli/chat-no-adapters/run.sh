STEP=training/step1_supervised_finetuning/main.py
deepspeed --num_gpus 8 $STEP --model_name_or_path $1 --data_split 2,4,4 --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 --max_seq_len 1024 --zero_stage 3 --lora_dim 16 \
    --lora_module_name $2 --dtype bf16 --deepspeed
