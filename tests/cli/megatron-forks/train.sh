#!/bin/bash
# Options of Megatron-LLaMA and of Apertus' Megatron.
torchrun --nnodes 2 --nproc_per_node 8 pretrain_llama.py \
    --tensor-model-parallel-size 2 --sequence-parallel \
    --num-layers 40 --hidden-size 5120 --num-attention-heads 40 --ffn-hidden-size 13824 \
    --seq-length 2048 --max-position-embeddings 2048 --swiglu --disable-bias-linear --RMSNorm \
    --no-position-embedding --use-rotary-position-embeddings --untie-embeddings-and-output-weights \
    --causal-lm --tokenizer-type PretrainedFromHF --job-name one \
    --micro-batch-size 2 --global-batch-size 64 --train-iters 10 --lr 6.0e-5 \
    --optimizer ademamix --ademamix-alpha 8 \
    --overlapped-distributed-optimizer --reduce-bucket-size=2e8 --bf16 \
    --recompute-activations --recompute-granularity selective --use-flash-attn
