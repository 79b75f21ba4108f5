#!/bin/bash
#$ -l rt_F=2
#$ -cwd
mpirun -np $((NHOSTS * 4)) -N 4 python pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --tokenizer-type NullTokenizer --vocab-size 32000 --fp16 --train-iters 10 --global-batch-size $((NHOSTS * 32))
