#!/bin/bash
# Llama-2 70B with Megatron-Core, in bf16 or, with PRECISION=fp8, in fp8.
NODES=${NODES:-16}
GPUS_PER_NODE=8
TP=8
PP=4
PRECISION=${PRECISION:-bf16}
CHECKPOINTS=$1 # where the job goes on from

DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NODES
    --master_addr ${MASTER_ADDR:-localhost}
)

MODEL_ARGS=(
    --use-mcore-models
    --num-layers 80
    --hidden-size 8192
    --ffn-hidden-size 28672
    --num-attention-heads 64
    --group-query-attention
    --num-query-groups 8
    --seq-length 4096
    --max-position-embeddings 4096
    --position-embedding-type rope
    --normalization RMSNorm
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --tokenizer-type Llama2Tokenizer
    --tokenizer-model tokenizer.model
)

TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size $((4 * NODES * GPUS_PER_NODE / TP)) # 64 at 16 nodes
    --train-iters 5000
    --lr 1.5e-4
    --clip-grad 1.0
    --bf16
)
if [[ $PRECISION == fp8 ]]; then
    TRAINING_ARGS+=(--fp8-format hybrid --fp8-amax-history-len 1024)
fi

PARALLEL_ARGS=(
    --tensor-model-parallel-size $TP
    --pipeline-model-parallel-size $PP
    --num-layers-per-virtual-pipeline-stage $((80 / PP / 4))
    --sequence-parallel
    --tp-comm-overlap
    --use-distributed-optimizer
    --overlap-grad-reduce  # during backward
    --overlap-param-gather # during the next forward
)

torchrun "${DISTRIBUTED_ARGS[@]}" pretrain_gpt.py \
    "${MODEL_ARGS[@]}" \
    "${TRAINING_ARGS[@]}" \
    "${PARALLEL_ARGS[@]}" \
    --data-path /fsx/data/llama_text_document --split 99,1,0 \
    --save "$CHECKPOINTS" --load "$CHECKPOINTS" --save-interval 500
