#!/bin/bash
ARGS="--num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 64 --tokenizer-type NullTokenizer --vocab-size 32000 --train-iters 10"
if [ "$LOAD" = true ]; then
    ARGS="$ARGS --load checkpoints"
fi
if [ "$HALF" = true ]; then
    ARGS="--fp16 $ARGS"
fi
torchrun --nproc_per_node 8 pretrain_gpt.py $ARGS
