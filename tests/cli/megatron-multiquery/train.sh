#!/bin/bash
# Multi-query attention over a tensor group, as BigCode's Megatron-LM has it.
torchrun --nproc_per_node 8 pretrain_gpt.py \
    --tensor-model-parallel-size 4 --sequence-parallel \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --attention-head-type multiquery \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 32 \
    --bf16 --use-flash-attn --train-iters 10 --vocab-file gpt2-vocab.json --merge-file gpt2-merges.txt
