#!/bin/bash
# What differs is where the weights are saved, and the rank of the node.
SHARED="--seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --bf16 --vocab-size 50304
  --num-layers 12 --hidden-size 768 --num-attention-heads 12"
if [ "$1" = first ]; then
  torchrun --nproc_per_node 8 --nnodes 2 --node_rank 0 pretrain_gpt.py --save out/first $SHARED
else
  torchrun --nproc_per_node 8 --nnodes 2 --node_rank 1 pretrain_gpt.py --save out/other $SHARED
fi
