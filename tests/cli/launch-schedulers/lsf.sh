#!/bin/bash
#BSUB -nnodes 2
HOSTS=$(sort -u $LSB_DJOB_HOSTFILE | wc -l)
jsrun -n $((HOSTS * 4)) -r 4 python pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --tokenizer-type NullTokenizer --vocab-size 32000 --fp16 --train-iters 10 --global-batch-size $((HOSTS * 32))
