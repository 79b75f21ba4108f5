#!/bin/bash
# Numbers that loops and arithmetic make.
NODES=4
GPUS=0
for ((i = 0; i < NODES; i++)); do
    GPUS=$((GPUS + 8))
done
LAYERS=0
((LAYERS += 6, LAYERS *= 4))
let HEADS=LAYERS/2 HEADS+=4
j=5
while ((j > 3)); do ((j--)); done
MB=$(($(nproc) == 96 ? 4 : 8))
torchrun --nnodes $NODES --nproc_per_node 8 pretrain_gpt.py \
    --num-layers $LAYERS --hidden-size $((HEADS << 7)) --num-attention-heads $HEADS \
    --seq-length $((2 ** 11)) --max-position-embeddings 2048 \
    --micro-batch-size $MB --global-batch-size $((MB * GPUS * j)) --train-iters 1000 --fp16
