#!/bin/bash
# Precision, recomputation and sharding are chosen by the caller's words: each is asked for.
# sh train.sh 2 bf16 full true
MICRO=$1
PR=$2
AC=$3
if [ $PR = fp16 ]; then
    precision=" \
        --fp16 \
        --loss-scale-window 500"
elif [ $PR = bf16 ]; then
    precision="--bf16"
fi
case $AC in
    full) recompute="--recompute-granularity full --recompute-method uniform" ;;
    *) recompute= ;;
esac
if [ -f start.pt ]; then
    start="--load start"
fi
DO=${4:-true}
[ "$DO" = true ] && shards="--use-distributed-optimizer"
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \
    --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size 2 --global-batch-size 64 --vocab-size 50257 --train-iters 100 \
    --use-mcore-models --transformer-impl transformer_engine \
    $precision $recompute $start $shards
