#!/bin/bash
#BSUB -nnodes 8
time jsrun --nrs 32 --tasks_per_rs 1 --gpu_per_rs 1 --rs_per_host 4 --bind packed:1 python pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --global-batch-size 64 --tokenizer-type NullTokenizer --vocab-size 32000 --fp16 --train-iters 10
