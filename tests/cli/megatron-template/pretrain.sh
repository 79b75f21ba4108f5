#!/bin/bash
# ZeRO's stage and buckets are in a template that sed fills in
ZERO_STAGE=2
BF16=true
TEMPLATE=ds_config_TEMPLATE.json
CONFIG=ds_config_1.3B_z${ZERO_STAGE}.json
sed "s/GBSIZE/512/" ${TEMPLATE} \
    | sed "s/MBSIZE/8/" \
    | sed "s/ZERO_STAGE/${ZERO_STAGE}/;" \
    | sed "s/CONFIG_BF16/${BF16}/" \
    | sed "s/BUCKET/2e8/" > ${CONFIG}
deepspeed --num_nodes 8 --num_gpus 8 pretrain_gpt.py \
    --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 2048 --max-position-embeddings 2048 \
    --micro-batch-size 8 --global-batch-size 512 --train-iters 1000 --bf16 --checkpoint-activations \
    --deepspeed --deepspeed_config ${CONFIG} --no-pipeline-parallel --deepspeed-activation-checkpointing
