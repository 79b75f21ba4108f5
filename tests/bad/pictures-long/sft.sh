# Texts of a model that reads pictures too; one of the size it gives is longer than them.
NPROC_PER_NODE=8 swift sft \
    --model mistralai/Ministral-3-3B-Instruct-2512-BF16 \
    --tuner_type full \
    --freeze_vit true \
    --torch_dtype bfloat16 \
    --attn_impl flash_attention_2 \
    --max_length 2048 \
    --per_device_train_batch_size 4
