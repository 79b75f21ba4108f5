#!/bin/bash
./start.sh --nodes 2 --gpus-per-node 8 --account a --partition p --container-image i \
    --model gpt_oss_20b --mode lora --dataset mock -mb 2 train.global_batch_size=64
