#!/usr/bin/env bash
# Fine-tunes Llama 2 7B with the Trainer.
torchrun --nnodes=2 --nproc_per_node=8 run_clm.py \
    --model_name_or_path meta-llama/Llama-2-7b-hf \
    --per_device_train_batch_size 2 --gradient_accumulation_steps 4 \
    --block_size 4096 --bf16 --gradient_checkpointing True \
    --fsdp '"full_shard auto_wrap"' --fsdp_transformer_layer_cls_to_wrap LlamaDecoderLayer \
    --attn_implementation flash_attention_2 --optim adamw_torch --do_train
