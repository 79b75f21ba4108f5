#!/bin/bash
# $1: where to write; $2: whether to recompute
OUT=$1
RECOMPUTE=$2
if [ "$OUT" == "" ]; then
    OUT=./out
fi
if [ "$RECOMPUTE" == true ]; then
    RECOMPUTE="--recompute-activations"
else
    RECOMPUTE=""
fi
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 16 --hidden-size 1024 --num-attention-heads 16 \
    --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --bf16 $RECOMPUTE --save $OUT
