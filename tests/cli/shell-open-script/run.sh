#!/bin/bash
DATA=$1
PROGRAM=$2
torchrun --nproc_per_node 8 --nnodes 1 $PROGRAM --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
    --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --global-batch-size 64 --fp16 \
    --train-iters 10 --data-path $DATA --vocab-size 32000 --tokenizer-type NullTokenizer
