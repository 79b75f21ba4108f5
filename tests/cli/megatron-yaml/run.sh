#!/bin/bash
torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --yaml-cfg arguments.yaml --micro-batch-size 16
