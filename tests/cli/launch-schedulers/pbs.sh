#!/bin/bash
#PBS -l select=3:ngpus=4:mpiprocs=4
#PBS -l walltime=1:00:00
NODES=$(cat $PBS_NODEFILE | sort | uniq | wc -l)
RANKS=$(wc -l < $PBS_NODEFILE)
mpiexec -n $RANKS -ppn $((RANKS / NODES)) python pretrain_gpt.py --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 512 --max-position-embeddings 512 --micro-batch-size 2 --tokenizer-type NullTokenizer --vocab-size 32000 --fp16 --train-iters 10 --global-batch-size $((RANKS * 8))
