#!/bin/bash
# Two variables of the site decide four fields: each is asked for once.
torchrun --nproc_per_node=8 --nnodes=2 pretrain_gpt.py \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length $SEQ --max-position-embeddings $SEQ \
    --micro-batch-size $BATCH --global-batch-size $((BATCH * 16)) \
    --train-iters 100 --bf16 --tokenizer-type GPT2BPETokenizer
