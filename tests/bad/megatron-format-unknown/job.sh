#!/bin/bash
DTYPE=fp16
if [ "$1" = long ]; then
    DTYPE=bf16
fi
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 64 --tokenizer-type NullTokenizer --vocab-size 32000 --train-iters 10 --${DTYPE} --lr 3e-4
