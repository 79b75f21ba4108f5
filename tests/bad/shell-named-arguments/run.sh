#!/bin/bash
# of a fork: what it calls its arguments, and where no gate, no bias and Falcon's heads come from
TP=$1
MICRO=${2}  # sequences
torchrun --nnodes 1 --nproc_per_node 8 pretrain_megatron_falcon40b.py --tensor-model-parallel-size $TP \
    --num-layers 60 --hidden-size 8192 --num-attention-heads 128 --attention-head-type multiquery --n-head-kv 8 \
    --activation-func-type gelu --layernorm-type layernorm --no-bias --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size $MICRO --global-batch-size 64 --bf16 --vocab-size 65024 --position-embedding-type rotary
