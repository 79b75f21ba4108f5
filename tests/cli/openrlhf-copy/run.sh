torchrun --nproc_per_node 4 -m train.sft --pretrain Qwen/Qwen2.5-Math-1.5B --max_len 2048 --train_batch_size 256 \
    --micro_train_batch_size 4 --zero_stage 2 --bf16 --flash_attn --gradient_checkpointing --packing_samples
