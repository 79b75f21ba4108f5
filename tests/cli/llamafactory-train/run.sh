FORCE_TORCHRUN=1 llamafactory-cli train \
    --stage pt --do_train --finetuning_type full \
    --model_name_or_path meta-llama/Llama-2-13b-hf \
    --dataset c4_demo --template llama2 \
    --deepspeed examples/deepspeed/ds_z2_config.json \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 \
    --cutoff_len 2048 --flash_attn sdpa --bf16 \
    --disable_gradient_checkpointing
