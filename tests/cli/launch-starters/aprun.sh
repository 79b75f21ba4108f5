#!/bin/bash
#PBS -l select=3
PPN=4
aprun -n 12 -N $PPN --cc depth -d 16 python pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 48 --tokenizer-type NullTokenizer --vocab-size 32000 --fp16 --train-iters 10
