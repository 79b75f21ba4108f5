#!/bin/bash
# The tokenizer's model says how many words there are.
torchrun --nproc_per_node=8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 \
    --num-attention-heads 32 --ffn-hidden-size 8192 --group-query-attention \
    --num-query-groups 8 --swiglu --normalization RMSNorm --disable-bias-linear \
    --position-embedding-type rope --seq-length 8192 --max-position-embeddings 8192 \
    --micro-batch-size 1 --global-batch-size 64 --train-iters 100 --bf16 \
    --use-distributed-optimizer --transformer-impl transformer_engine \
    --tokenizer-type HuggingFaceTokenizer --tokenizer-model /models/Llama-3.2-1B
