#!/bin/bash
# Fabric() has no arguments: the command has them.
export NCCL_SOCKET_IFNAME=bond0
fabric run --accelerator=cuda --node-rank=$RANK --main-address=10.0.0.1 \
    --num-nodes=4 --devices=8 --strategy=fsdp --precision=bf16-mixed \
    train.py
