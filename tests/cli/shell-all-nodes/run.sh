#!/bin/bash
EXPERTS=16
ALL=$(($(ds_ssh nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)-2))
EACH=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
NODES=$((ALL / EACH))
if [[ $EXPERTS -gt $ALL ]]; then EP=$ALL; else EP=$EXPERTS; fi
deepspeed --num_nodes $NODES pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
    --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 2 --global-batch-size 64 --fp16 \
    --num-experts $EXPERTS --moe-expert-parallel-size $EP --vocab-file gpt2-vocab.json --merge-file gpt2-merges.txt \
    --train-iters 10 --deepspeed --zero-stage 0 --no-pipeline-parallel
