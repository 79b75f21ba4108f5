#!/bin/bash
CONFIG=${1:-mine.yaml}
tune run --nnodes 1 --nproc_per_node 8 recipes/my_finetune.py --config "$CONFIG" batch_size=4
