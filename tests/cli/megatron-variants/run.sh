#!/bin/bash
ARGS="
    --tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 --sequence-parallel
    --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --ffn-hidden-size 14336
    --group-query-attention --num-query-groups 8 --swiglu --normalization RMSNorm
    --position-embedding-type rope --untie-embeddings-and-output-weights --disable-bias-linear
    --seq-length 4096 --max-position-embeddings 4096 --vocab-size 128256
    --micro-batch-size 1 --global-batch-size 128 --train-iters 1000
    --bf16 --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
    --recompute-granularity selective --attention-backend flash --clip-grad 1.0
"
torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py $ARGS
