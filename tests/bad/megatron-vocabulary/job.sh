#!/bin/bash
# Words that the file of a tokenizer alone says.
torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 12 --hidden-size 768 \
    --num-attention-heads 12 --seq-length 1024 --max-position-embeddings 1024 \
    --micro-batch-size 4 --global-batch-size 32 --bf16 --train-iters 10 \
    --tokenizer-type SentencePieceTokenizer --tokenizer-model /data/nordic/spm.model
