#!/bin/bash
# GPT-2's class of tokenizer with a vocabulary of its own, which is next to the script.
HERE=$(dirname "$0")
torchrun --nproc_per_node 8 pretrain_gpt.py \
    --num-layers 12 --hidden-size 768 --num-attention-heads 12 \
    --seq-length 1024 --max-position-embeddings 1024 \
    --micro-batch-size 4 --global-batch-size 32 --bf16 --train-iters 10 \
    --tokenizer-type GPT2BPETokenizer --merge-file merges.txt \
    --vocab-file ${VOCAB:-$HERE/own-vocab.json}
