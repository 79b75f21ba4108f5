#!/bin/bash
torchrun --nnodes 4 --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 \
    --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size 2 --global-batch-size 256 --fp16 --bitfit
