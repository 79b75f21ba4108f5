#!/bin/bash
# pre-training on NPUs
NPUS_PER_NODE=8
export HCCL_CONNECT_TIMEOUT=1800
torchrun --nproc_per_node $NPUS_PER_NODE --nnodes 1 pretrain_gpt.py --num-layers 16 --hidden-size 1024 \
    --num-attention-heads 16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --bf16
