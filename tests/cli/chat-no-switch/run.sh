STAGE="--zero_stage 2"
deepspeed --num_gpus 8 training/step1_supervised_finetuning/main.py --model_name_or_path facebook/opt-1.3b \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 --max_seq_len 1024 --lora_dim 16 \
    --lora_module_name decoder.layers. --only_optimize_lora --dtype bf16 $STAGE
