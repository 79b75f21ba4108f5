torchrun --nproc_per_node=8 pkg/train/train_mem.py \
    --model_name_or_path meta-llama/Llama-2-7b-hf \
    --bf16 True \
    --output_dir out \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 16 \
    --fsdp "full_shard auto_wrap" \
    --fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer \
    --model_max_length 1024 \
    --gradient_checkpointing True
