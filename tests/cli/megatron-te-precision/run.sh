#!/bin/bash
torchrun --nproc_per_node 8 --nnodes 8 pretrain_mamba.py --bf16 --fp4-format e2m1 --num-layers 8 --hidden-size 4096 --num-attention-heads 32 \
  --group-query-attention --num-query-groups 2 --hybrid-layer-pattern "MEMEM*ME/*E/*E" --is-hybrid-model --seq-length 8192 --max-position-embeddings 8192 --micro-batch-size 1 --global-batch-size 512 \
  --mamba-num-heads 128 --mamba-head-dim 64 --mamba-state-dim 128 --mamba-num-groups 8 --num-experts 128 --moe-router-topk 8 --moe-ffn-hidden-size 2688 --ffn-hidden-size 2688 --expert-model-parallel-size 8 \
  --moe-shared-expert-intermediate-size 5376 --mtp-use-repeated-layer --keep-mtp-spec-in-bf16 --te-precision-config-file te_quant.cfg --use-distributed-optimizer --vocab-size 131072 --squared-relu
