#!/bin/bash
#SBATCH --nodes 2
#SBATCH --gpus-per-node 8
echo "next: $(sbatch --dependency=singleton $0)"
sbatch --dependency=singleton job.sh
srun torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 \
    --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 2 --global-batch-size 256 --bf16 \
    --use-mcore-models --vocab-size 32000 --tokenizer-type NullTokenizer
