python qlora.py \
    --model_name_or_path huggyllama/llama-7b --dataset ours --do_train True \
    --source_max_len 512 --target_max_len 1536 --bits 4 --double_quant True \
    --lora_r 16 --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --max_steps 100 --bf16 --gradient_checkpointing --optim rmsprop
