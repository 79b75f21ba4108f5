#!/bin/bash
# Adapters of a fork's, by its names of modules.
torchrun --nproc_per_node 8 pretrain_gpt.py \
    --tensor-model-parallel-size 4 --sequence-parallel \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --ffn-hidden-size 5632 \
    --seq-length 2048 --max-position-embeddings 2048 --vocab-size 32000 \
    --swiglu --disable-bias-linear --rms-norm --position-embedding-type rope \
    --untie-embeddings-and-output-weights --use-flash-attn \
    --lora-r 8 --lora-alpha 16 \
    --lora-target-modules query_key_value dense proj dense_4h_to_h \
    --micro-batch-size 2 --global-batch-size 32 --bf16
