#!/bin/bash
# Numbers that loops and arithmetic make, and those of a file next to the script.
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
WORDS=$(yq '.model.tokens[1]' sizes.yaml)
LENGTH=$(cat sizes.yaml | yq -r '.model["max-length"]')
STEPS=$(jq -r '.model.steps // 1000' sizes.yaml)
torchrun --nnodes $NODES --nproc_per_node 8 pretrain_gpt.py \
    --num-layers $LAYERS --hidden-size $((HEADS << 7)) --num-attention-heads $HEADS \
    --seq-length $((2 ** 11)) --max-position-embeddings $LENGTH --vocab-size $WORDS \
    --micro-batch-size $MB --global-batch-size $((MB * GPUS * j)) --train-iters $STEPS --fp16
