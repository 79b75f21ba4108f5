#!/bin/bash
# ./train.sh SIZE
SHARED="--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --bf16 --vocab-size 50304"
case $1 in
  small)
    torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 \
      --num-attention-heads 12 --save out/small $SHARED ;;
  wide)
    torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 2048 \
      --num-attention-heads 16 --tensor-model-parallel-size 2 --save out/wide $SHARED ;;
esac
