#!/bin/bash
# Transformer Engine is left neither flash-attention nor cuDNN: a fused softmax remains.
export NVTE_FLASH_ATTN=0
export NVTE_FUSED_ATTN=0
export NVTE_APPLY_QK_LAYER_SCALING=1
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \
    --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 --bf16 \
    --micro-batch-size 1 --global-batch-size 64 --transformer-impl transformer_engine \
    --vocab-size 50304
